from bot.play import agent
