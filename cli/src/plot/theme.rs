//! The colours of pictures, light and dark. Those of series are Okabe and Ito's, which people tell apart
//! whatever colours they see; those of heat maps are viridis.

use super::shapes::Colour;

/// `--theme`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Theme {
    /// Dark on white, for paper.
    #[default]
    Light,
    /// Light on dark grey, for screens.
    Dark,
}

/// What a shape's colour means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// A series, by its number.
    Series(usize),
    /// What stands out, such as a point mass.
    Accent,
    /// A curve by its value on the scale of colours: 0 its lower end, 255 its upper one.
    Scale(u8),
    /// Single agents, behind what is said of all of them.
    Faint,
}

/// The series' colours on white: Okabe and Ito's, the yellow last, as it is faint there.
const ON_LIGHT: [Colour; 7] = [
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0x00, 0x9e, 0x73],
    [0xcc, 0x79, 0xa7],
    [0x56, 0xb4, 0xe9],
    [0xe6, 0x9f, 0x00],
    [0x00, 0x00, 0x00],
];

/// The same on dark grey: the lighter ones first, and a white for the black.
const ON_DARK: [Colour; 7] = [
    [0x56, 0xb4, 0xe9],
    [0xe6, 0x9f, 0x00],
    [0x2f, 0xc0, 0x96],
    [0xdd, 0x93, 0xbb],
    [0xf0, 0xe4, 0x42],
    [0xf0, 0x7c, 0x28],
    [0xee, 0xee, 0xee],
];

/// The number of series that have colours of their own.
pub(super) const SERIES: usize = ON_LIGHT.len();

/// Viridis at equal distances.
const VIRIDIS: [Colour; 9] = [
    [0x44, 0x01, 0x54],
    [0x47, 0x2c, 0x7a],
    [0x3b, 0x51, 0x8b],
    [0x2c, 0x71, 0x8e],
    [0x21, 0x90, 0x8d],
    [0x27, 0xad, 0x81],
    [0x5c, 0xc8, 0x63],
    [0xaa, 0xdc, 0x32],
    [0xfd, 0xe7, 0x25],
];

impl Theme {
    /// Behind all shapes.
    pub(super) fn background(self) -> Colour {
        self.either([0xff, 0xff, 0xff], [0x16, 0x1a, 0x1f])
    }

    /// Titles.
    pub(super) fn title(self) -> Colour {
        self.either([0x1b, 0x1f, 0x24], [0xf0, 0xf3, 0xf6])
    }

    /// Labels.
    pub(super) fn label(self) -> Colour {
        self.either([0x3c, 0x44, 0x4d], [0xc9, 0xd1, 0xd9])
    }

    /// Notes and numbers.
    pub(super) fn note(self) -> Colour {
        self.either([0x5f, 0x68, 0x72], [0x9a, 0xa5, 0xb1])
    }

    /// The lines of the grid.
    pub(super) fn grid(self) -> Colour {
        self.either([0xe8, 0xeb, 0xee], [0x2a, 0x31, 0x39])
    }

    /// The line at the foot of a plot.
    pub(super) fn axis(self) -> Colour {
        self.either([0x9a, 0xa3, 0xad], [0x6b, 0x76, 0x82])
    }

    /// The colour of an ink.
    pub(super) fn ink(self, ink: Ink) -> Colour {
        let series = match self {
            Theme::Light => &ON_LIGHT,
            Theme::Dark => &ON_DARK,
        };
        match ink {
            Ink::Series(number) => series[number % SERIES],
            Ink::Accent => series[1],
            Ink::Scale(place) => {
                // A thin line as dark, or as light, as the background would not be seen.
                let [low, high] = match self {
                    Theme::Light => [0.0, 0.92],
                    Theme::Dark => [0.25, 1.0],
                };
                viridis(low + (high - low) * f64::from(place) / 255.0)
            }
            Ink::Faint => self.either([0x6f, 0x8f, 0xa8], [0x7f, 0x99, 0xad]),
        }
    }

    fn either(self, light: Colour, dark: Colour) -> Colour {
        match self {
            Theme::Light => light,
            Theme::Dark => dark,
        }
    }
}

/// The colour of a share of the way from the least to the greatest value of a heat map.
pub(super) fn viridis(share: f64) -> Colour {
    let place = share.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let below = (place.floor() as usize).min(VIRIDIS.len() - 2);
    let part = place - below as f64;
    let [low, high] = [VIRIDIS[below], VIRIDIS[below + 1]];
    let mixed = |at: usize| f64::from(low[at]) * (1.0 - part) + f64::from(high[at]) * part;
    [0, 1, 2].map(|at| mixed(at).round() as u8)
}
