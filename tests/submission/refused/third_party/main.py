import numpy as np
import torch

def agent(obs, config):
    return int(torch.zeros(1)) + int(np.zeros(1))
