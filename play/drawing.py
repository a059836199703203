"""Pictures of the menu and of the board, for any size of the window.

Layouts say where things are, as functions of the size alone, so that a click finds what is drawn. What pygame
draws with jagged edges is drawn larger here and scaled down, once for each size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import cos, pi, sin

import pygame
from pygame import Rect, Surface

from play.menu import Item, Menu, Page
from play.scene import Scene, Values
from play.session import last_cell

Colour = tuple[int, int, int]
Point = tuple[float, float]

NIGHT, DUSK = (13, 19, 36), (24, 34, 62)  # the background, from top to bottom
PANEL, PANEL_EDGE, WELL = (38, 88, 190), (29, 70, 158), (17, 27, 56)
CARD, CARD_LIGHT, OUTLINE = (29, 41, 73), (41, 57, 98), (62, 81, 130)
WHITE, PALE, MUTED = (255, 255, 255), (205, 216, 240), (146, 162, 200)
ACCENT, GREEN, ROSE = (52, 109, 228), (64, 196, 132), (240, 122, 122)
DISCS: dict[int, tuple[Colour, Colour, Colour]] = {  # face, rim, mark
    1: ((255, 203, 64), (224, 162, 26), (132, 84, 0)),
    2: ((238, 84, 92), (196, 48, 62), (110, 10, 28)),
}
FONTS = "liberationsans,notosans,helveticaneue,dejavusans,segoeui,arial"
SMOOTH = 4  # times larger before it is scaled down


@dataclass(frozen=True)
class MenuLayout:
    """Where the menu's lines are.

    Attributes:
        scale: of fonts and distances.
        rows: the rectangle of every visible line, by its index.
        arrows: the rectangles at the left and right of a value that has steps, by index.
        hidden: whether there are lines above and below.
    """

    scale: float
    rows: dict[int, Rect]
    arrows: dict[int, tuple[Rect, Rect]]
    hidden: tuple[bool, bool]

    @staticmethod
    def of(size: tuple[int, int], menu: Menu) -> MenuLayout:
        """The layout of the open page in a window of `size` pixels."""
        width, height = size
        scale = min(width / 900, height / 820)
        items = menu.items
        step, top, bottom = 56 * scale, 226 * scale, 116 * scale
        fitting = max(1, min(len(items), int((height - top - bottom) / step)))
        # It scrolls no further than it must: what the mouse points at stays where it is.
        first = min(max(menu.first, menu.selected - fitting + 1), menu.selected, len(items) - fitting)
        wide = min(600 * scale, width - 32 * scale)
        left = (width - wide) / 2
        rows = {
            index: Rect(left, top + (index - first) * step, wide, 50 * scale)
            for index in range(first, first + fitting)
        }
        arrows = {}
        for index, row in rows.items():
            if items[index].adjust:
                side = row.height
                arrows[index] = (
                    Rect(row.right - round(3.4 * side), row.y, side, side),
                    Rect(row.right - side, row.y, side, side),
                )
        return MenuLayout(scale, rows, arrows, (first > 0, first + fitting < len(items)))


@dataclass(frozen=True)
class SceneLayout:
    """Where the parts of a game are.

    Attributes:
        scale: of fonts and distances.
        cell: side of a cell.
        board: the cells' rectangle, without the frame around them.
        lane: where the hover disc floats and, at the end, the result stands.
        values: the strip under the board with the columns' numbers or values.
        plates: the players' rectangles, by mark.
        keys: the rectangles of the keys at the bottom, by key name.
    """

    scale: float
    cell: int
    board: Rect
    lane: Rect
    values: Rect
    plates: dict[int, Rect]
    keys: dict[str, Rect]

    @staticmethod
    def of(size: tuple[int, int], scene: Scene) -> SceneLayout:
        """The layout of a game in a window of `size` pixels."""
        width, height = size
        rows, columns = scene.board.geometry.rows, scene.board.geometry.columns
        scale = min(width / 900, height / 820)
        header, strip, footer, margin = (round(part * scale) for part in (92, 62, 58, 28))
        least_lane = round(98 * scale)
        room = height - header - strip - footer - margin
        cell = min((width - 2 * margin) // columns, room // (rows + 1))
        if cell < least_lane:
            cell = min((width - 2 * margin) // columns, (room - least_lane) // rows)
        cell = max(cell, 4)
        lane_height = max(cell, least_lane)
        spare = max(0, room - lane_height - cell * rows)
        board = Rect(0, 0, cell * columns, cell * rows)
        board.midtop = (width // 2, header + lane_height + margin // 2 + spare // 2)
        lane = Rect(board.x, board.y - lane_height - margin // 3, board.width, lane_height)
        values = Rect(board.x, board.bottom + margin // 2, board.width, strip)
        plate = (round(min(300 * scale, width / 2 - 60 * scale)), round(66 * scale))
        y = round(18 * scale)
        plates = {1: Rect((margin, y), plate), 2: Rect((width - margin - plate[0], y), plate)}
        return SceneLayout(scale, cell, board, lane, values, plates, _key_rects(size, scale, scene))

    def column_at(self, point: Point) -> int | None:
        """The column at a point on the board or in the lane above it."""
        inside = self.board.union(self.lane).collidepoint(point)
        return int((point[0] - self.board.x) // self.cell) if inside else None

    def centre(self, column: int, height: float) -> tuple[int, int]:
        """The middle of a cell, `height` cells above the bottom row; `height` may be a fraction."""
        return (
            self.board.x + self.cell * column + self.cell // 2,
            round(self.board.bottom - self.cell * (height + 0.5)),
        )


def keys(scene: Scene) -> dict[str, str]:
    """The keys told at the bottom, and what each does now."""
    if scene.people:
        first = {"Enter": "again" if scene.is_over else "drop", "U": "undo", "H": "hint"}
    else:
        first = {"Space": "go on" if scene.paused else "pause", "U": "undo"}
    return first | {"A": "analysis", "N": "new game", "Esc": "menu"}


def _key_rects(size: tuple[int, int], scale: float, scene: Scene) -> dict[str, Rect]:
    """The keys in one line at the bottom, each as wide as its words."""
    gap = 22 * scale
    widths = {
        name: _cap_width(name, scale) + 8 * scale + font(15 * scale).size(label)[0]
        for name, label in keys(scene).items()
    }
    x = (size[0] - sum(widths.values()) - gap * (len(widths) - 1)) / 2
    rects = {}
    for name, width in widths.items():
        rects[name] = Rect(x, size[1] - 48 * scale, width, 32 * scale)
        x += width + gap
    return rects


def _cap_width(name: str, scale: float) -> float:
    return font(14 * scale, True).size(name)[0] + 18 * scale


@lru_cache(maxsize=64)
def _font(size: int, bold: bool) -> pygame.font.Font:
    return pygame.font.SysFont(FONTS, size, bold=bold)


def font(size: float, bold: bool = False) -> pygame.font.Font:
    """The font of a height in pixels."""
    return _font(max(9, round(size * 1.12)), bold)


@lru_cache(maxsize=512)
def _rendered(text: str, size: int, bold: bool, colour: Colour) -> Surface:
    return font(size, bold).render(text, True, colour)


def write(
    surface: Surface,
    text: str,
    size: float,
    colour: Colour,
    *,
    at: Point,
    anchor: str = "center",
    bold: bool = False,
    width: float | None = None,
) -> Rect:
    """Writes a line whose `anchor`, a point of its rectangle, is `at`; cut with dots beyond `width`."""
    face = font(round(size), bold)
    if width is not None and face.size(text)[0] > width:
        while text and face.size(text + "…")[0] > width:
            text = text[:-1]
        text = text.rstrip() + "…"
    picture = _rendered(text, round(size), bold, colour)
    rect = picture.get_rect(**{anchor: at})
    surface.blit(picture, rect)
    return rect


@lru_cache(maxsize=128)
def rounded(width: int, height: int, radius: int, colour: Colour, edge: Colour | None = None) -> Surface:
    """A rectangle with round corners, and a thin rim if there is an `edge`."""
    large = Surface((width * SMOOTH, height * SMOOTH), pygame.SRCALPHA)
    rect = large.get_rect()
    if edge:
        pygame.draw.rect(large, edge, rect, border_radius=radius * SMOOTH)
        rect = rect.inflate(-2 * SMOOTH, -2 * SMOOTH)
    pygame.draw.rect(large, colour, rect, border_radius=radius * SMOOTH)
    return pygame.transform.smoothscale(large, (width, height))


def plate(surface: Surface, rect: Rect, radius: float, colour: Colour, edge: Colour | None = None) -> None:
    """Draws such a rectangle."""
    surface.blit(rounded(max(rect.width, 2), max(rect.height, 2), round(radius), colour, edge), rect)


@lru_cache(maxsize=64)
def disc(mark: int, diameter: int, ghost: bool = False) -> Surface:
    """A player's disc; the mark on it, X or O, tells the players apart without colours."""
    side = diameter * SMOOTH
    large = Surface((side, side), pygame.SRCALPHA)
    face, rim, ink = DISCS[mark]
    middle, radius = (side / 2, side / 2), side / 2
    pygame.draw.circle(large, rim, middle, radius)
    pygame.draw.circle(large, face, middle, radius * 0.87)
    if mark == 1:
        for angle in (pi / 4, 3 * pi / 4):
            _bar(large, angle, ink)
    else:
        pygame.draw.circle(large, ink, middle, radius * 0.44, round(radius * 0.17))
    picture = pygame.transform.smoothscale(large, (diameter, diameter))
    if ghost:
        picture.set_alpha(90)
    return picture


def _bar(surface: Surface, angle: float, colour: Colour) -> None:
    """A stroke of the X through the middle of a disc's picture, with round ends."""
    middle = (surface.get_width() / 2, surface.get_height() / 2)
    reach, thick = middle[0] * 0.44, middle[0] * 0.17
    ends = [
        (middle[0] + sign * reach * cos(angle), middle[1] + sign * reach * sin(angle)) for sign in (-1, 1)
    ]
    aside = (-sin(angle) * thick / 2, cos(angle) * thick / 2)
    corners = [(x + aside[0], y + aside[1]) for x, y in ends]
    corners += [(x - aside[0], y - aside[1]) for x, y in reversed(ends)]
    pygame.draw.polygon(surface, colour, corners)
    for end in ends:
        pygame.draw.circle(surface, colour, end, thick / 2)


@lru_cache(maxsize=16)
def ring(diameter: int, thickness: int, colour: Colour) -> Surface:
    """A circle's line."""
    large = Surface((diameter * SMOOTH, diameter * SMOOTH), pygame.SRCALPHA)
    radius = diameter * SMOOTH / 2
    pygame.draw.circle(large, colour, (radius, radius), radius, thickness * SMOOTH)
    return pygame.transform.smoothscale(large, (diameter, diameter))


@lru_cache(maxsize=8)
def _tile(cell: int) -> Surface:
    """A cell of the board's front: a sheet with a hole, whose edge is darker."""
    side = cell * SMOOTH
    large = Surface((side, side), pygame.SRCALPHA)
    large.fill(PANEL)
    middle = (side / 2, side / 2)
    pygame.draw.circle(large, PANEL_EDGE, middle, side * 0.45)
    pygame.draw.circle(large, (0, 0, 0, 0), middle, side * 0.405)
    return pygame.transform.smoothscale(large, (cell, cell))


@lru_cache(maxsize=4)
def background(width: int, height: int) -> Surface:
    """The window's ground."""
    column = Surface((1, 2))
    column.set_at((0, 0), NIGHT)
    column.set_at((0, 1), DUSK)
    return pygame.transform.smoothscale(column, (width, height))


@lru_cache(maxsize=4)
def _front(cell: int, rows: int, columns: int) -> Surface:
    """The whole front of a board, with its frame."""
    pad = round(cell * 0.12)
    size = (cell * columns + 2 * pad, cell * rows + 2 * pad)
    front = rounded(*size, round(cell * 0.24), PANEL_EDGE).copy()
    front.blit(rounded(size[0], size[1] - max(2, pad // 2), round(cell * 0.24), PANEL), (0, 0))
    tile = _tile(cell)
    front.fill((0, 0, 0, 0), Rect(pad, pad, cell * columns, cell * rows))
    for column in range(columns):
        for row in range(rows):
            front.blit(tile, (pad + column * cell, pad + row * cell))
    return front


# The menu


def draw_menu(surface: Surface, menu: Menu, message: str = "") -> None:
    """Draws the open page; `message` is a line of warning."""
    size = surface.get_size()
    layout = MenuLayout.of(size, menu)
    surface.blit(background(*size), (0, 0))
    _draw_heading(surface, menu, layout.scale)
    items = menu.items
    for index, row in layout.rows.items():
        _draw_row(surface, items[index], row, layout.arrows.get(index), selected=index == menu.selected)
    _draw_more(surface, layout)
    below = max(row.bottom for row in layout.rows.values()) + 34 * layout.scale
    note, colour = (message, ROSE) if message else (items[menu.selected].note, PALE)
    write(surface, note, 17 * layout.scale, colour, width=size[0] * 0.94, at=(size[0] / 2, below))
    keys = "↑ ↓  select      ← →  change      Enter  choose      Backspace  back"
    write(
        surface,
        keys,
        14 * layout.scale,
        MUTED,
        width=size[0] * 0.96,
        at=(size[0] / 2, size[1] - 32 * layout.scale),
    )


def _draw_heading(surface: Surface, menu: Menu, scale: float) -> None:
    middle = surface.get_width() / 2
    diameter = round(44 * scale)
    for place, mark in enumerate((1, 1, 1, 1) if menu.page is Page.MAIN else ()):
        x = middle + (place - 1.5) * diameter * 1.22
        surface.blit(disc(mark, diameter), disc(mark, diameter).get_rect(center=(x, 62 * scale)))
    if menu.page is Page.MAIN:
        write(surface, menu.page.value, 58 * scale, WHITE, bold=True, at=(middle, 130 * scale))
        write(
            surface,
            "Four in a row, or as many as you like",
            19 * scale,
            MUTED,
            at=(middle, 181 * scale),
        )
    else:
        write(surface, menu.page.value, 42 * scale, WHITE, bold=True, at=(middle, 150 * scale))


def _draw_row(
    surface: Surface,
    item: Item,
    row: Rect,
    arrows: tuple[Rect, Rect] | None,
    *,
    selected: bool,
) -> None:
    scale = row.height / 50
    plate(surface, row, 12 * scale, ACCENT if selected else CARD)
    inset = 22 * scale
    label_colour, value_colour = (WHITE, WHITE) if selected else (PALE, MUTED)
    left = write(
        surface,
        item.label,
        21 * scale,
        label_colour,
        bold=True,
        width=row.width * 0.9,
        anchor="midleft",
        at=(row.x + inset, row.centery),
    )
    if arrows:
        for rect, direction in zip(arrows, (-1, 1), strict=True):
            _triangle(surface, rect.center, 8 * scale, direction, value_colour)
        middle = (arrows[0].centerx + arrows[1].centerx) / 2
        write(surface, item.value, 20 * scale, value_colour, bold=True, at=(middle, row.centery))
    elif item.value:
        write(
            surface,
            item.value,
            19 * scale,
            value_colour,
            width=row.right - left.right - 2.5 * inset,
            anchor="midright",
            at=(row.right - inset, row.centery),
        )
    if item.current:
        _tick(
            surface,
            (row.right - inset - 10 * scale, row.centery),
            9 * scale,
            GREEN if not selected else WHITE,
        )


def _draw_more(surface: Surface, layout: MenuLayout) -> None:
    """Small arrows where lines are out of sight."""
    above, below = layout.hidden
    rows = list(layout.rows.values())
    reach = 7 * layout.scale
    if above:
        x, y = rows[0].midtop
        y -= round(14 * layout.scale)
        pygame.draw.polygon(surface, MUTED, [(x - reach, y + reach), (x + reach, y + reach), (x, y)])
    if below:
        x, y = rows[-1].midbottom
        y += round(6 * layout.scale)
        pygame.draw.polygon(surface, MUTED, [(x - reach, y), (x + reach, y), (x, y + reach)])


def _triangle(surface: Surface, centre: Point, reach: float, direction: int, colour: Colour) -> None:
    x, y = centre
    tip = (x + direction * reach * 0.7, y)
    base = x - direction * reach * 0.5
    points = [tip, (base, y - reach), (base, y + reach)]
    pygame.draw.polygon(surface, colour, points)
    pygame.draw.aalines(surface, colour, True, points)


def _tick(surface: Surface, centre: Point, reach: float, colour: Colour) -> None:
    x, y = centre
    points = [(x - reach, y), (x - reach * 0.25, y + reach * 0.7), (x + reach, y - reach * 0.75)]
    pygame.draw.lines(surface, colour, False, points, max(2, round(reach / 3)))


# The game


def draw_scene(surface: Surface, scene: Scene, now: float, message: str = "") -> None:
    """Draws a game as it is at the time `now`; `message` is a line of warning."""
    layout = SceneLayout.of(surface.get_size(), scene)
    surface.blit(background(*surface.get_size()), (0, 0))
    _draw_players(surface, scene, layout, now)
    _draw_lane(surface, scene, layout, now)
    _draw_board(surface, scene, layout, now)
    _draw_strip(surface, scene, layout, message)
    if scene.is_over and not scene.is_falling(now):
        _draw_result(surface, scene, layout)
    _draw_keys(surface, scene, layout)


def _draw_players(surface: Surface, scene: Scene, layout: SceneLayout, now: float) -> None:
    scale, result = layout.scale, scene.session.result
    for mark, rect in layout.plates.items():
        active = result.winner == mark if result else scene.board.turn == mark
        plate(surface, rect, 16 * scale, CARD_LIGHT if active else CARD, DISCS[mark][0] if active else None)
        diameter = round(rect.height * 0.62)
        picture = disc(mark, diameter)
        inset = rect.height / 2
        x = rect.x + inset if mark == 1 else rect.right - inset
        surface.blit(picture, picture.get_rect(center=(x, rect.centery)))
        side = "midleft" if mark == 1 else "midright"
        text_x = rect.x + rect.height if mark == 1 else rect.right - rect.height
        wide = rect.width - rect.height - 12 * scale
        name = scene.session.players[mark - 1]
        name = name[:1].upper() + name[1:] if mark in scene.people else name
        up, down = rect.centery - 12 * scale, rect.centery + 13 * scale
        write(
            surface,
            name,
            20 * scale,
            WHITE if active else PALE,
            bold=True,
            width=wide,
            anchor=side,
            at=(text_x, up),
        )
        state = _state(scene, mark, now)
        write(
            surface, state, 15 * scale, PALE if active else MUTED, width=wide, anchor=side, at=(text_x, down)
        )
    middle = surface.get_width() / 2
    write(
        surface,
        f"{scene.board.ply}",
        24 * scale,
        PALE,
        bold=True,
        at=(middle, layout.plates[1].centery - 10 * scale),
    )
    words = "disc" if scene.board.ply == 1 else "discs"
    write(surface, words, 14 * scale, MUTED, at=(middle, layout.plates[1].centery + 14 * scale))


def _state(scene: Scene, mark: int, now: float) -> str:
    """What a player is doing."""
    result = scene.session.result
    if result:
        return "a draw" if not result.winner else "won" if result.winner == mark else "lost"
    if scene.board.turn != mark:
        return "second" if scene.board.ply == 0 else "waits"
    if mark in scene.people:
        return "a hint is on its way ..." if scene.hint_wanted else "your turn"
    if scene.paused:
        return "paused: Space goes on"
    return "thinking" + "." * (1 + int(now * 3) % 3)


def _draw_lane(surface: Surface, scene: Scene, layout: SceneLayout, now: float) -> None:
    """The hover disc, where a person is to move."""
    if not scene.person_to_move or scene.is_falling(now):
        return
    mark = scene.board.turn
    y = layout.board.y - layout.cell * 0.56 - layout.scale * 4
    picture = disc(mark, _diameter(layout))
    surface.blit(picture, picture.get_rect(center=(layout.centre(scene.cursor, 0)[0], y)))
    if scene.hint is not None:
        x = layout.centre(scene.hint, 0)[0]
        rim = ring(_diameter(layout), max(2, round(layout.cell * 0.06)), GREEN)
        surface.blit(rim, rim.get_rect(center=(x, y)))
        above = y - _diameter(layout) / 2 - 10 * layout.scale
        write(surface, "hint", 14 * layout.scale, GREEN, bold=True, at=(x, above))


def _diameter(layout: SceneLayout) -> int:
    return max(3, round(layout.cell * 0.84))


def _draw_board(surface: Surface, scene: Scene, layout: SceneLayout, now: float) -> None:
    shape, board = scene.board.geometry, scene.board
    pygame.draw.rect(surface, WELL, layout.board)
    over = scene.is_over and not scene.is_falling(now)
    line = set(board.winning_line()) if over else set()
    diameter = _diameter(layout)
    falling = scene.fall if scene.fall and scene.is_falling(now) else None
    for column in range(shape.columns):
        for height in range(shape.rows):
            mark = board.cell(height, column)
            if not mark:
                continue
            rest = (height, column)
            above = falling.above(now) if falling and (falling.height, falling.column) == rest else 0.0
            picture = disc(mark, diameter)
            centre = layout.centre(column, height + above)
            surface.blit(picture, picture.get_rect(center=centre))
            if line and rest not in line:
                surface.blit(_shade(diameter), picture.get_rect(center=centre))
    pad = round(layout.cell * 0.12)
    surface.blit(_front(layout.cell, shape.rows, shape.columns), (layout.board.x - pad, layout.board.y - pad))
    for cell in line:
        _ring(surface, layout, cell, 0.07)
    _draw_target(surface, scene, layout, now)
    last = last_cell(board)
    if last and not line and not falling:
        _ring(surface, layout, last, 0.045)


@lru_cache(maxsize=4)
def _shade(diameter: int) -> Surface:
    """Darkens a disc that is not in the winning line."""
    side = diameter * SMOOTH
    large = Surface((side, side), pygame.SRCALPHA)
    pygame.draw.circle(large, (*WELL, 140), (side / 2, side / 2), side / 2)
    return pygame.transform.smoothscale(large, (diameter, diameter))


def _ring(surface: Surface, layout: SceneLayout, cell: tuple[int, int], thickness: float) -> None:
    """Marks the disc in a cell (height, column)."""
    height, column = cell
    picture = ring(_diameter(layout), max(2, round(layout.cell * thickness)), WHITE)
    surface.blit(picture, picture.get_rect(center=layout.centre(column, height)))


def _draw_target(surface: Surface, scene: Scene, layout: SceneLayout, now: float) -> None:
    """A small dot where the disc at the cursor would come to rest."""
    if not scene.can_drop(scene.cursor, now):
        return
    board = scene.board
    full = board.geometry.full_columns[scene.cursor]
    height = ((board.own | board.other) & full).bit_count()
    picture = disc(board.turn, _diameter(layout), ghost=True)
    surface.blit(picture, picture.get_rect(center=layout.centre(scene.cursor, height)))


def _draw_strip(surface: Surface, scene: Scene, layout: SceneLayout, message: str) -> None:
    """Under the board: the columns' numbers or, in the analysis, their values; below them a line of words."""
    size = min(16 * layout.scale, layout.cell * 0.4)
    y = layout.values.y + 15 * layout.scale
    show = scene.analysis and not scene.is_over
    for column in range(scene.board.geometry.columns):
        x = layout.centre(column, 0)[0]
        if show and scene.values and column in scene.values.scores:
            _draw_value(surface, scene.values, column, (x, y), layout)
        else:
            bright = column == scene.cursor and scene.person_to_move
            write(surface, str(column + 1), size, WHITE if bright else MUTED, bold=True, at=(x, y))
    words = message or (_analysis_text(scene.values) if show else "")
    centre = (surface.get_width() / 2, layout.values.y + 44 * layout.scale)
    wide = surface.get_width() * 0.96
    write(surface, words, 14 * layout.scale, ROSE if message else MUTED, width=wide, at=centre)


def _draw_value(surface: Surface, values: Values, column: int, centre: Point, layout: SceneLayout) -> None:
    score = values.scores[column]
    exact, best = column in values.exact, column in values.best
    rect = Rect(0, 0, round(layout.cell * 0.84), round(26 * layout.scale))
    rect.center = (round(centre[0]), round(centre[1]))
    colour = GREEN if best else ROSE if exact and score < 0 else PALE
    plate(surface, rect, 9 * layout.scale, CARD_LIGHT if best else CARD, GREEN if best else None)
    text = f"{score:+.0f}" if score else "0"
    text = text if exact else f"~{text}"
    write(surface, text, min(17 * layout.scale, layout.cell * 0.34), colour, bold=True, at=rect.center)


def _analysis_text(values: Values | None) -> str:
    if values is None:
        return "Working out the values of the columns ..."
    if values.all_exact:
        return "Exact values: + a win, 0 a draw, - a loss; the larger, the sooner"
    proven = "; those without ~ are proven" if values.exact else ""
    moves = "1 move" if values.depth == 1 else f"{values.depth} moves"
    return f"An estimate, {moves} deep, for who is to move{proven}"


def _draw_result(surface: Surface, scene: Scene, layout: SceneLayout) -> None:
    """The card at the end of a game, where the hover disc was."""
    scale = layout.scale
    width = round(min(surface.get_width() - 24 * scale, max(layout.board.width, 640 * scale)))
    rect = Rect(0, 0, width, round(86 * scale))
    rect.midbottom = (surface.get_width() // 2, layout.board.y - round(layout.cell * 0.12 + 8 * scale))
    lines = scene.notice.splitlines()
    winner = scene.session.result.winner if scene.session.result else 0
    plate(surface, rect, 16 * scale, CARD_LIGHT, DISCS[winner][0] if winner else OUTLINE)
    y = rect.centery - (len(lines) * 10) * scale
    write(
        surface, scene.headline, 29 * scale, WHITE, bold=True, width=width - 24 * scale, at=(rect.centerx, y)
    )
    for number, line in enumerate(lines):
        centre = (rect.centerx, y + (27 + 19 * number) * scale)
        write(surface, line, 15 * scale, PALE, width=width - 24 * scale, at=centre)


def _draw_keys(surface: Surface, scene: Scene, layout: SceneLayout) -> None:
    scale = layout.scale
    for name, label in keys(scene).items():
        rect = layout.keys[name]
        cap = Rect(rect.x, rect.y, _cap_width(name, scale), rect.height)
        plate(surface, cap, 7 * scale, CARD_LIGHT, OUTLINE)
        write(surface, name, 14 * scale, PALE, bold=True, at=cap.center)
        write(surface, label, 15 * scale, MUTED, anchor="midleft", at=(cap.right + 8 * scale, rect.centery))
