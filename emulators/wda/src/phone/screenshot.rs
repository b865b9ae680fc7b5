//! The screen as a picture, drawn from the tree.

mod canvas;
mod file;

use embedded_graphics::mono_font::iso_8859_1::{FONT_6X10, FONT_9X15, FONT_9X15_BOLD};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::prelude::{Drawable, Point, Primitive, Size};
use embedded_graphics::primitives::{PrimitiveStyle, PrimitiveStyleBuilder, Rectangle, RoundedRectangle};
use embedded_graphics::text::{Alignment, Baseline, Text, TextStyleBuilder};

use self::canvas::{Canvas, PaletteColor};
use super::app::SIZES;
use super::device::{Appearance, Device};
use super::screen::{Rect, Screen, TextStyle, UiElement};

/// The screen as a PNG file, or one part of it.
pub(crate) fn picture(device: &Device, part: Option<Rect>, extra: usize) -> Vec<u8> {
    let screen = device.screen();
    let mut canvas = Canvas::new(screen.size);
    for (index, node) in screen.nodes.iter().enumerate().filter(|(_, node)| node.visible) {
        paint(&mut canvas, &screen, index, node);
    }
    status_bar(&mut canvas, screen.size.0, device.is_locked);
    let whole = Rect::new(0, 0, screen.size.0, screen.size.1);
    let is_dark = device.appearance == Appearance::Dark;
    file::write(&canvas, part.unwrap_or(whole), is_dark, extra)
}

fn paint(canvas: &mut Canvas, screen: &Screen, index: usize, node: &UiElement) {
    let text = node.value.as_deref().or(node.label.as_deref()).unwrap_or_default();
    let label = node.label.as_deref().unwrap_or_default();
    match node.kind {
        "Window" => fill(canvas, node.rect, PaletteColor::PAGE),
        "NavigationBar" => {
            fill(canvas, Rect::new(0, 0, node.rect.width, node.rect.y + node.rect.height), PaletteColor::BAR);
            line(canvas, node.rect, Edge::Below);
        }
        "TabBar" => {
            fill(canvas, node.rect, PaletteColor::BAR);
            line(canvas, node.rect, Edge::Above);
        }
        "Table" | "Cell" => {
            fill(canvas, node.rect, PaletteColor::PAPER);
            line(canvas, node.rect, Edge::Below);
        }
        "StaticText" => static_text(canvas, node, text),
        "TextField" | "SecureTextField" => text_field(canvas, node, text),
        "Button" => button(canvas, screen, index, node, label),
        "Switch" => switch(canvas, node),
        "PickerWheel" => wheel(canvas, node, text),
        "Alert" => alert(canvas, screen, node),
        "Keyboard" => keyboard(canvas, node.rect),
        "Icon" => icon(canvas, node, label),
        _ => {}
    }
}

fn status_bar(canvas: &mut Canvas, width: i32, is_locked: bool) {
    write(canvas, "9:41", Rect::new(0, 2, width, 16), &FONT_9X15_BOLD, PaletteColor::TEXT, Alignment::Center);
    if is_locked {
        write(
            canvas,
            "locked",
            Rect::new(0, 2, width - 8, 16),
            &FONT_6X10,
            PaletteColor::TEXT,
            Alignment::Right,
        );
    }
}

fn static_text(canvas: &mut Canvas, node: &UiElement, text: &str) {
    let (font, ink, alignment) = match node.look {
        TextStyle::Title => (&FONT_9X15_BOLD, PaletteColor::TEXT, Alignment::Center),
        TextStyle::Plain => (&FONT_9X15, PaletteColor::TEXT, Alignment::Left),
        TextStyle::Quiet => (&FONT_6X10, PaletteColor::QUIET, Alignment::Left),
        TextStyle::Danger => (&FONT_9X15, PaletteColor::DANGER, Alignment::Left),
    };
    write(canvas, text, node.rect, font, ink, alignment);
}

fn text_field(canvas: &mut Canvas, node: &UiElement, text: &str) {
    let border = if node.selected { PaletteColor::TINT } else { PaletteColor::LINE };
    rounded(canvas, node.rect, PaletteColor::PAPER, border);
    let is_empty = node.placeholder == Some(text);
    let inside = Rect::new(node.rect.x + 10, node.rect.y, node.rect.width - 20, node.rect.height);
    write(
        canvas,
        text,
        inside,
        &FONT_9X15,
        if is_empty { PaletteColor::QUIET } else { PaletteColor::TEXT },
        Alignment::Left,
    );
}

fn button(canvas: &mut Canvas, screen: &Screen, index: usize, node: &UiElement, label: &str) {
    let parent = screen.node(index).and_then(|node| node.parent).and_then(|parent| screen.node(parent));
    match parent.map(|parent| parent.kind) {
        Some("TabBar") => {
            let ink = if node.selected { PaletteColor::TINT } else { PaletteColor::QUIET };
            let (x, y) = node.rect.centre();
            fill(canvas, Rect::new(x - 8, y - 18, 16, 16), ink);
            let below = Rect::new(node.rect.x, y + 2, node.rect.width, 18);
            write(canvas, label, below, &FONT_6X10, ink, Alignment::Center);
        }
        Some("NavigationBar") => {
            write(canvas, &format!("< {label}"), node.rect, &FONT_9X15, PaletteColor::TINT, Alignment::Left);
        }
        Some("Alert") => {
            line(canvas, node.rect, Edge::Above);
            write(canvas, label, node.rect, &FONT_9X15_BOLD, PaletteColor::TINT, Alignment::Center);
        }
        _ => {
            let ink = if node.enabled { PaletteColor::TINT } else { PaletteColor::LINE };
            rounded(canvas, node.rect, ink, ink);
            write(canvas, label, node.rect, &FONT_9X15_BOLD, PaletteColor::PAPER, Alignment::Center);
        }
    }
}

fn switch(canvas: &mut Canvas, node: &UiElement) {
    let track = if node.selected { PaletteColor::ON } else { PaletteColor::LINE };
    rounded(canvas, node.rect, track, track);
    let x = if node.selected { node.rect.x + node.rect.width - 30 } else { node.rect.x + 2 };
    rounded(canvas, Rect::new(x, node.rect.y + 2, 28, 28), PaletteColor::PAPER, PaletteColor::PAPER);
}

/// The chosen value in the middle, its neighbours above and below.
fn wheel(canvas: &mut Canvas, node: &UiElement, value: &str) {
    rounded(canvas, node.rect, PaletteColor::PAPER, PaletteColor::LINE);
    let third = node.rect.height / 3;
    let at = SIZES.iter().position(|size| *size == value).unwrap_or_default();
    let row = |place: i32| Rect::new(node.rect.x, node.rect.y + place * third, node.rect.width, third);
    fill(canvas, row(1), PaletteColor::BAR);
    write(canvas, value, row(1), &FONT_9X15_BOLD, PaletteColor::TEXT, Alignment::Center);
    let neighbours = [(0, at.checked_sub(1)), (2, Some(at + 1))];
    for (place, neighbour) in neighbours {
        if let Some(text) = neighbour.and_then(|at| SIZES.get(at)) {
            write(canvas, text, row(place), &FONT_9X15, PaletteColor::QUIET, Alignment::Center);
        }
    }
}

fn alert(canvas: &mut Canvas, screen: &Screen, node: &UiElement) {
    canvas.dim(Rect::new(0, 0, screen.size.0, screen.size.1));
    rounded(canvas, node.rect, PaletteColor::PAPER, PaletteColor::LINE);
}

fn keyboard(canvas: &mut Canvas, rect: Rect) {
    fill(canvas, rect, PaletteColor::BAR);
    let height = (rect.height - 8) / 4;
    for (row, keys) in (0i32..).zip(["qwertyuiop", "asdfghjkl", "zxcvbnm"]) {
        let width = rect.width / 10;
        let count = i32::try_from(keys.len()).unwrap_or(10);
        let left = rect.x + (rect.width - count * width) / 2;
        for (place, key) in (0i32..).zip(keys.chars()) {
            let cap = Rect::new(left + place * width + 2, rect.y + 4 + row * height, width - 4, height - 4);
            rounded(canvas, cap, PaletteColor::PAPER, PaletteColor::LINE);
            write(
                canvas,
                key.encode_utf8(&mut [0; 4]),
                cap,
                &FONT_9X15,
                PaletteColor::TEXT,
                Alignment::Center,
            );
        }
    }
}

fn icon(canvas: &mut Canvas, node: &UiElement, label: &str) {
    rounded(canvas, Rect::new(node.rect.x + 6, node.rect.y, 60, 60), PaletteColor::TINT, PaletteColor::TINT);
    let below = Rect::new(node.rect.x, node.rect.y + 62, node.rect.width, 20);
    write(canvas, label, below, &FONT_6X10, PaletteColor::TEXT, Alignment::Center);
}

enum Edge {
    Above,
    Below,
}

fn line(canvas: &mut Canvas, rect: Rect, edge: Edge) {
    let y = match edge {
        Edge::Above => rect.y,
        Edge::Below => rect.y + rect.height - 1,
    };
    fill(canvas, Rect::new(rect.x, y, rect.width, 1), PaletteColor::LINE);
}

fn area(rect: Rect) -> Rectangle {
    let side = |length: i32| u32::try_from(length).unwrap_or_default();
    Rectangle::new(Point::new(rect.x, rect.y), Size::new(side(rect.width), side(rect.height)))
}

fn fill(canvas: &mut Canvas, rect: Rect, ink: PaletteColor) {
    let Ok(()) = area(rect).into_styled(PrimitiveStyle::with_fill(ink)).draw(canvas);
}

fn rounded(canvas: &mut Canvas, rect: Rect, ink: PaletteColor, border: PaletteColor) {
    let style = PrimitiveStyleBuilder::new().fill_color(ink).stroke_color(border).stroke_width(1).build();
    let shape = RoundedRectangle::with_equal_corners(area(rect), Size::new(8, 8));
    let Ok(()) = shape.into_styled(style).draw(canvas);
}

/// Writes one line, or two when it does not fit into one.
fn write(
    canvas: &mut Canvas,
    text: &str,
    rect: Rect,
    font: &MonoFont<'_>,
    ink: PaletteColor,
    alignment: Alignment,
) {
    let wide = i32::try_from(font.character_size.width).unwrap_or(9).max(1);
    let fits = usize::try_from(rect.width / wide).unwrap_or(1).max(1);
    let text = wrapped(text, fits);
    let (x, y) = match alignment {
        Alignment::Left => (rect.x, rect.centre().1),
        Alignment::Center => rect.centre(),
        Alignment::Right => (rect.x + rect.width, rect.centre().1),
    };
    let lines = i32::try_from(text.lines().count()).unwrap_or(1);
    let high = i32::try_from(font.character_size.height).unwrap_or(15);
    let y = y - (lines - 1) * high / 2;
    let layout = TextStyleBuilder::new().alignment(alignment).baseline(Baseline::Middle).build();
    let style = MonoTextStyle::new(font, ink);
    let Ok(_) = Text::with_text_style(&text, Point::new(x, y), style, layout).draw(canvas);
}

fn wrapped(text: &str, fits: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(last) = lines.last_mut() else { break };
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > fits {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    let shown = lines.into_iter().take(3).map(|line| line.chars().take(fits).collect::<String>());
    shown.collect::<Vec<_>>().join("\n")
}
