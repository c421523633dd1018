//! Distributions from their definitions in `f64`, and how far a sample is from them: moments, tails,
//! extremes, chi-squared and Kolmogorov–Smirnov. Nothing here knows how the language draws.

/// What a sample of numbers may be drawn from.
pub trait Distribution {
    /// P(X <= x).
    fn below(&self, x: f64) -> f64;
    /// P(X > x), exact where it is small.
    fn above(&self, x: f64) -> f64;
    /// Mean, variance, and fourth central moment over the squared variance.
    fn moments(&self) -> [f64; 3];
}

/// Uniform in [a, b).
pub struct Uniform(pub f64, pub f64);

/// Normal with a mean and a standard deviation.
pub struct Normal(pub f64, pub f64);

/// Exponential with a rate.
pub struct Exponential(pub f64);

/// Its logarithm is normal, with this mean and deviation.
pub struct LogNormal(pub f64, pub f64);

/// With a shape and a scale.
pub struct Gamma(pub f64, pub f64);

/// With two shapes.
pub struct Beta(pub f64, pub f64);

/// Student's, with degrees of freedom.
pub struct StudentT(pub f64);

/// With a location and a scale; it has no moments.
pub struct Cauchy(pub f64, pub f64);

/// With a location and a scale.
pub struct Laplace(pub f64, pub f64);

/// Normal with a mean and a standard deviation, between two ends.
pub struct NormalBetween(pub f64, pub f64, pub f64, pub f64);

impl Distribution for LogNormal {
    fn below(&self, x: f64) -> f64 {
        Normal(self.0, self.1).below(x.max(0.0).ln())
    }

    fn above(&self, x: f64) -> f64 {
        Normal(self.0, self.1).above(x.max(0.0).ln())
    }

    fn moments(&self) -> [f64; 3] {
        let w = (self.1 * self.1).exp();
        let mean = (self.0 + 0.5 * self.1 * self.1).exp();
        let kurtosis = w.powi(4) + 2.0 * w.powi(3) + 3.0 * w * w - 3.0;
        [mean, (w - 1.0) * mean * mean, kurtosis]
    }
}

impl Distribution for Gamma {
    fn below(&self, x: f64) -> f64 {
        gamma_share(self.0, x / self.1)[0]
    }

    fn above(&self, x: f64) -> f64 {
        gamma_share(self.0, x / self.1)[1]
    }

    fn moments(&self) -> [f64; 3] {
        let mean = self.0 * self.1;
        [mean, mean * self.1, 3.0 + 6.0 / self.0]
    }
}

impl Distribution for Beta {
    fn below(&self, x: f64) -> f64 {
        beta_share(self.0, self.1, x)
    }

    fn above(&self, x: f64) -> f64 {
        beta_share(self.1, self.0, 1.0 - x)
    }

    fn moments(&self) -> [f64; 3] {
        let Beta(a, b) = *self;
        let n = a + b;
        let variance = a * b / (n * n * (n + 1.0));
        let excess = 6.0 * ((a - b) * (a - b) * (n + 1.0) - a * b * (n + 2.0));
        [
            a / n,
            variance,
            3.0 + excess / (a * b * (n + 2.0) * (n + 3.0)),
        ]
    }
}

impl Distribution for StudentT {
    fn below(&self, x: f64) -> f64 {
        self.above(-x)
    }

    fn above(&self, x: f64) -> f64 {
        let half = 0.5 * beta_share(0.5 * self.0, 0.5, self.0 / (self.0 + x * x));
        if x > 0.0 { half } else { 1.0 - half }
    }

    fn moments(&self) -> [f64; 3] {
        let n = self.0;
        let beyond = |least: f64, moment: f64| if n > least { moment } else { f64::INFINITY };
        [
            0.0,
            beyond(2.0, n / (n - 2.0)),
            beyond(4.0, 3.0 + 6.0 / (n - 4.0)),
        ]
    }
}

impl Distribution for Cauchy {
    fn below(&self, x: f64) -> f64 {
        self.above(2.0 * self.0 - x)
    }

    fn above(&self, x: f64) -> f64 {
        self.1.atan2(x - self.0) / std::f64::consts::PI
    }

    fn moments(&self) -> [f64; 3] {
        [0.0, f64::INFINITY, f64::INFINITY]
    }
}

impl Distribution for Laplace {
    fn below(&self, x: f64) -> f64 {
        self.above(2.0 * self.0 - x)
    }

    fn above(&self, x: f64) -> f64 {
        let tail = 0.5 * (-(x - self.0).abs() / self.1).exp();
        if x > self.0 { tail } else { 1.0 - tail }
    }

    fn moments(&self) -> [f64; 3] {
        [self.0, 2.0 * self.1 * self.1, 6.0]
    }
}

impl NormalBetween {
    /// The chance of a normal number between two ends, by the side where it is small.
    fn between(&self, a: f64, b: f64) -> f64 {
        let (a, b) = ((a - self.0) / self.1, (b - self.0) / self.1);
        match a > 0.0 {
            true => normal_above(a) - normal_above(b),
            false => normal_above(-b) - normal_above(-a),
        }
    }
}

impl Distribution for NormalBetween {
    fn below(&self, x: f64) -> f64 {
        let x = x.clamp(self.2, self.3);
        self.between(self.2, x) / self.between(self.2, self.3)
    }

    fn above(&self, x: f64) -> f64 {
        let x = x.clamp(self.2, self.3);
        self.between(x, self.3) / self.between(self.2, self.3)
    }

    /// By sums over the density, as far as 40 deviations.
    fn moments(&self) -> [f64; 3] {
        let low = self.2.max(self.0 - 40.0 * self.1);
        let high = self.3.min(self.0 + 40.0 * self.1);
        let over = |f: &dyn Fn(f64) -> f64| -> f64 {
            let at = |k: u32| low + (high - low) * (f64::from(k) + 0.5) / 1e6;
            let nearest = low.max(self.0.min(high));
            let density = |x: f64| {
                let [z, most] = [x, nearest].map(|x| (x - self.0) / self.1);
                (0.5 * (most * most - z * z)).exp()
            };
            (0..1_000_000).map(|k| density(at(k)) * f(at(k))).sum()
        };
        let total = over(&|_| 1.0);
        let mean = over(&|x| x) / total;
        let variance = over(&|x| (x - mean).powi(2)) / total;
        let fourth = over(&|x| (x - mean).powi(4)) / total;
        [mean, variance, fourth / (variance * variance)]
    }
}

impl Distribution for Uniform {
    fn below(&self, x: f64) -> f64 {
        ((x - self.0) / (self.1 - self.0)).clamp(0.0, 1.0)
    }

    fn above(&self, x: f64) -> f64 {
        1.0 - self.below(x)
    }

    fn moments(&self) -> [f64; 3] {
        let width = self.1 - self.0;
        [self.0 + 0.5 * width, width * width / 12.0, 1.8]
    }
}

impl Distribution for Normal {
    fn below(&self, x: f64) -> f64 {
        normal_above((self.0 - x) / self.1)
    }

    fn above(&self, x: f64) -> f64 {
        normal_above((x - self.0) / self.1)
    }

    fn moments(&self) -> [f64; 3] {
        [self.0, self.1 * self.1, 3.0]
    }
}

impl Distribution for Exponential {
    fn below(&self, x: f64) -> f64 {
        -(-x.max(0.0) * self.0).exp_m1()
    }

    fn above(&self, x: f64) -> f64 {
        (-x.max(0.0) * self.0).exp()
    }

    fn moments(&self) -> [f64; 3] {
        [1.0 / self.0, 1.0 / (self.0 * self.0), 9.0]
    }
}

/// P(Z > z) of the standard normal distribution: the series around 0, Laplace's continued fraction beyond 3.
pub fn normal_above(z: f64) -> f64 {
    let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if z < -3.0 {
        return 1.0 - normal_above(-z);
    }
    if z > 3.0 {
        let tail = (1..=60).rev().fold(z, |tail, k| z + f64::from(k) / tail);
        return density / tail;
    }
    let (mut term, mut sum) = (z, z);
    for k in 1..80 {
        term *= z * z / f64::from(2 * k + 1);
        sum += term;
    }
    0.5 - density * sum
}

/// P(X > x) of chi-squared with this many degrees of freedom.
pub fn chi_squared_above(x: f64, degrees: f64) -> f64 {
    if degrees > 200.0 {
        // Wilson and Hilferty: a cube root is all but normal.
        let ninth = 2.0 / (9.0 * degrees);
        return normal_above(((x / degrees).cbrt() - 1.0 + ninth) / ninth.sqrt());
    }
    gamma_share(0.5 * degrees, 0.5 * x)[1]
}

/// The chances that a gamma number of this shape is below x, and above it.
fn gamma_share(a: f64, x: f64) -> [f64; 2] {
    if x <= 0.0 {
        return [0.0, 1.0];
    }
    let front = (a * x.ln() - x - log_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for k in 1..2_000 {
            term *= x / (a + f64::from(k));
            sum += term;
        }
        return [front * sum, 1.0 - front * sum];
    }
    // Legendre's continued fraction.
    let tail = (1..=500).rev().fold(0.0, |tail, k| {
        let k = f64::from(k);
        k * (a - k) / (x + 2.0 * k + 1.0 - a + tail)
    });
    let above = front / (x + 1.0 - a + tail);
    [1.0 - above, above]
}

/// The chance that a beta number of these shapes is below x: by the continued fraction on the side where it
/// converges.
fn beta_share(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return f64::from(u8::from(x > 0.0));
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_share(b, a, 1.0 - x);
    }
    let scale = log_gamma(a + b) - log_gamma(a) - log_gamma(b);
    let front = (scale + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    let tail = (1..=300).rev().fold(0.0, |tail, k| {
        let m = f64::from(k / 2);
        let part = match k % 2 {
            0 => m * (b - m) / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        };
        part * x / (1.0 + tail)
    });
    front / (1.0 + tail)
}

/// ln Γ(x) for positive x: Stirling's series where it is exact.
fn log_gamma(x: f64) -> f64 {
    let (mut shift, mut x) = (0.0, x);
    while x < 12.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y / 1680.0))) / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

/// P(D √n > t) of Kolmogorov's distribution.
pub fn kolmogorov_above(t: f64) -> f64 {
    if t < 0.3 {
        return 1.0;
    }
    let term = |k: i32| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-2.0 * f64::from(k * k) * t * t).exp()
    };
    (1..=40).map(term).sum::<f64>().clamp(0.0, 1.0)
}

/// The chances of a Poisson number: the first that counts, and those from there on. By the ratio of
/// neighbours from the most likely one, so that a table is as exact for a mean of 10^9 as for one of 1.
pub fn poisson(mean: f64) -> (i64, Vec<f64>) {
    let mode = mean.floor();
    let mut up = vec![1.0];
    let mut k = mode;
    while up[up.len() - 1] > 1e-40 {
        k += 1.0;
        up.push(up[up.len() - 1] * mean / k);
    }
    let mut down = Vec::new();
    let (mut k, mut chance) = (mode, 1.0);
    while k > 0.0 && chance > 1e-40 {
        chance *= k / mean;
        k -= 1.0;
        down.push(chance);
    }
    let first = mode as i64 - down.len() as i64;
    let mut chances: Vec<f64> = down.into_iter().rev().chain(up).collect();
    // Small ones first.
    let mut sorted = chances.clone();
    sorted.sort_by(f64::total_cmp);
    let sum: f64 = sorted.iter().sum();
    chances.iter_mut().for_each(|chance| *chance /= sum);
    (first, chances)
}

/// The chances of a binomial number, as [`poisson`] has those of its own.
pub fn binomial(n: i64, p: f64) -> (i64, Vec<f64>) {
    let odds = p / (1.0 - p);
    let mode = ((n + 1) as f64 * p).floor().min(n as f64) as i64;
    let (mut up, mut k) = (vec![1.0], mode);
    while k < n && up[up.len() - 1] > 1e-40 {
        up.push(up[up.len() - 1] * odds * (n - k) as f64 / (k + 1) as f64);
        k += 1;
    }
    let (mut down, mut k, mut chance) = (Vec::new(), mode, 1.0);
    while k > 0 && chance > 1e-40 {
        chance *= k as f64 / ((n - k + 1) as f64 * odds);
        down.push(chance);
        k -= 1;
    }
    let first = mode - down.len() as i64;
    let mut chances: Vec<f64> = down.into_iter().rev().chain(up).collect();
    let mut sorted = chances.clone();
    sorted.sort_by(f64::total_cmp);
    let sum: f64 = sorted.iter().sum();
    chances.iter_mut().for_each(|chance| *chance /= sum);
    (first, chances)
}

/// The chances of a geometric number from 1 on.
pub fn geometric(p: f64) -> Vec<f64> {
    let chance = |k: i32| p * ((1.0 - p).ln() * f64::from(k)).exp();
    (0..)
        .map(chance)
        .take_while(|chance| *chance > 1e-20)
        .collect()
}

/// A sample against what it should be, as chances: of deviations as large as those found.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// The mean, in standard errors.
    pub mean: f64,
    /// The variance, in standard errors.
    pub variance: f64,
    /// Numbers beyond 5 standard deviations from the mean, and how many are expected.
    pub far: [f64; 2],
    /// The chance of as many or more far ones, or of as few or fewer: the smaller one.
    pub far_chance: f64,
    /// The smallest and the largest number.
    pub ends: [f64; 2],
    /// The chance that none is smaller than the smallest, and that none is larger than the largest.
    pub ends_chance: [f64; 2],
    /// The chance of a larger chi-squared, or Kolmogorov–Smirnov distance.
    pub fit: f64,
}

impl Verdict {
    /// Is anything about the sample less likely than 1 in a million?
    pub fn is_fair(&self) -> bool {
        let likely = |chance: f64| (1e-6..=1.0 - 1e-6).contains(&chance);
        self.mean.abs() < 5.0
            && self.variance.abs() < 5.0
            && self.far_chance > 1e-6
            && self.ends_chance.into_iter().all(|chance| chance > 1e-6)
            && (likely(self.fit) || self.fit == 1.0)
    }
}

/// The probability of as many or more events as found, given the expected number, or of as few or fewer: the
/// smaller.
pub fn count_chance(found: f64, expected: f64) -> f64 {
    if expected <= 0.0 {
        return if found > 0.0 { 0.0 } else { 1.0 };
    }
    // A Poisson number is at least k if chi-squared with 2 k degrees is at most twice the mean.
    let more = match found > 0.0 {
        true => 1.0 - chi_squared_above(2.0 * expected, 2.0 * found),
        false => 1.0,
    };
    more.min(chi_squared_above(2.0 * expected, 2.0 * found + 2.0))
}

/// Chi-squared of counts against chances: cells are joined until each expects 10. Gives the chance of a
/// larger one.
pub fn chi_squared(counts: &[u64], chances: &[f64], total: f64) -> f64 {
    let (mut sum, mut cells) = (0.0, 0.0);
    let (mut found, mut expected, mut rest) = (0.0, 0.0, 1.0);
    for (count, chance) in counts.iter().zip(chances) {
        found += *count as f64;
        expected += chance * total;
        rest -= chance;
        if expected >= 10.0 && rest * total >= 10.0 {
            sum += (found - expected).powi(2) / expected;
            cells += 1.0;
            (found, expected) = (0.0, 0.0);
        }
    }
    if expected > 0.0 {
        sum += (found - expected).powi(2) / expected;
        cells += 1.0;
    }
    match cells < 2.0 {
        true => 1.0,
        false => chi_squared_above(sum, cells - 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of printed tables (Abramowitz and Stegun 26.1, 26.7, 26.8; Smirnov's table).
    #[test]
    fn tails_are_those_of_the_tables() {
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-5;
        assert!(near(normal_above(1.0), 0.158_655_253_9));
        assert!(near(normal_above(5.0), 2.866_515_719e-7));
        assert!(near(normal_above(-2.0), 0.977_249_868));
        assert!(near(chi_squared_above(3.841_459, 1.0), 0.05));
        assert!(near(chi_squared_above(18.307_04, 10.0), 0.05));
        assert!(near(chi_squared_above(2.0, 2.0), (-1f64).exp()));
        assert!((chi_squared_above(249.445, 220.0) - 0.084).abs() < 2e-3);
        assert!((kolmogorov_above(1.3581) - 0.05).abs() < 1e-4);
        assert!(near(count_chance(0.0, 2.0), (-2f64).exp()));
        // SciPy 1.17.
        assert!(near(Gamma(2.5, 3.0).below(4.0), 0.248_788_289_6));
        assert!(near(Beta(2.0, 5.0).below(0.2), 0.344_64));
        assert!(near(Beta(0.1, 3.0).above(0.5), 0.007_486_155_3));
        assert!(near(StudentT(2.5).above(3.0), 0.036_288_047_8));
        assert!(near(
            NormalBetween(1.0, 2.0, 0.0, 4.0).below(1.0),
            0.306_509_003_5
        ));
        assert!(near(binomial(50, 0.3).1[15], 0.122_346_861_8));
    }

    #[test]
    fn poisson_chances_are_those_of_the_formula() {
        let (first, chances) = poisson(3.0);
        assert_eq!(first, 0);
        let e3 = (-3f64).exp();
        assert!((chances[0] - e3).abs() < 1e-15 && (chances[2] - 4.5 * e3).abs() < 1e-15);
        let (first, chances) = poisson(1e9);
        let mean: f64 = (chances.iter().enumerate())
            .map(|(k, chance)| chance * (first as f64 + k as f64 - 1e9))
            .sum();
        assert!(mean.abs() < 1e-3, "{mean}");
    }
}
