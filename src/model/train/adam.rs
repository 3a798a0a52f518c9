//! Adam with decoupled weight decay (Kingma & Ba 2015; Loshchilov & Hutter 2019).

/// Settings of the optimizer and of its learning-rate schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamSettings {
    pub learning_rate: f32,
    pub beta1: f32,
    pub beta2: f32,
    pub epsilon: f32,
    pub weight_decay: f32,
    /// Steps in which the rate rises linearly.
    pub warm_up_steps: u32,
    /// Steps after which the cosine has come down to `floor` of the rate.
    pub total_steps: u32,
    pub floor: f32,
}

impl AdamSettings {
    /// Linear warm-up, then a cosine down to the floor.
    pub fn rate_at(&self, step: u32) -> f32 {
        if step < self.warm_up_steps {
            return self.learning_rate * (step + 1) as f32 / self.warm_up_steps as f32;
        }
        let span = self.total_steps.saturating_sub(self.warm_up_steps).max(1);
        let done = f64::from(step - self.warm_up_steps).min(f64::from(span)) / f64::from(span);
        let cosine = 0.5 * (1.0 + libm::cos(std::f64::consts::PI * done)) as f32;
        self.learning_rate * (self.floor + (1.0 - self.floor) * cosine)
    }
}

/// First and second moments of every parameter.
pub struct Adam {
    pub settings: AdamSettings,
    step: u32,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Adam {
    pub fn new(parameters: usize, settings: AdamSettings) -> Self {
        Self { settings, step: 0, first: vec![0.0; parameters], second: vec![0.0; parameters] }
    }

    /// One update; returns the learning rate it used. `decays` says for each parameter whether it is decayed.
    pub fn update(&mut self, parameters: &mut [f32], gradients: &[f32], decays: &[bool]) -> f32 {
        let s = self.settings;
        let rate = s.rate_at(self.step);
        self.step += 1;
        let correct1 = 1.0 - libm::pow(f64::from(s.beta1), f64::from(self.step)) as f32;
        let correct2 = 1.0 - libm::pow(f64::from(s.beta2), f64::from(self.step)) as f32;
        let moments = self.first.iter_mut().zip(&mut self.second);
        for (((p, g), decays), (m, v)) in parameters.iter_mut().zip(gradients).zip(decays).zip(moments) {
            *m = s.beta1 * *m + (1.0 - s.beta1) * g;
            *v = s.beta2 * *v + (1.0 - s.beta2) * g * g;
            let decay = if *decays { s.weight_decay * *p } else { 0.0 };
            *p -= rate * (*m / correct1 / ((*v / correct2).sqrt() + s.epsilon) + decay);
        }
        rate
    }
}

/// Scales gradients down to a norm of at most `norm_max`; returns the norm before.
pub fn clip_norm(gradients: &mut [f32], norm_max: f64) -> f64 {
    let norm = gradients.iter().map(|g| f64::from(*g) * f64::from(*g)).sum::<f64>().sqrt();
    if norm > norm_max {
        let scale = (norm_max / norm) as f32;
        gradients.iter_mut().for_each(|g| *g *= scale);
    }
    norm
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> AdamSettings {
        AdamSettings {
            learning_rate: 0.1,
            beta1: 0.9,
            beta2: 0.98,
            epsilon: 1e-8,
            weight_decay: 0.0,
            warm_up_steps: 10,
            total_steps: 110,
            floor: 0.05,
        }
    }

    #[test]
    fn the_rate_rises_then_falls_to_its_floor() {
        let s = settings();
        assert!((s.rate_at(0) - 0.01).abs() < 1e-7 && (s.rate_at(10) - 0.1).abs() < 1e-7);
        assert!((s.rate_at(60) - 0.0525).abs() < 1e-4 && (s.rate_at(500) - 0.005).abs() < 1e-7);
    }

    #[test]
    fn the_first_step_moves_by_the_rate_whatever_the_gradient() {
        let mut adam = Adam::new(2, AdamSettings { warm_up_steps: 0, ..settings() });
        let mut p = [1.0, 1.0];
        adam.update(&mut p, &[1e-3, -50.0], &[false, false]);
        assert!((p[0] - 0.9).abs() < 1e-4 && (p[1] - 1.1).abs() < 1e-4, "{p:?}");
    }

    #[test]
    fn a_long_gradient_is_cut_to_length() {
        let mut g = [3.0, 4.0];
        assert_eq!(clip_norm(&mut g, 1.0), 5.0);
        assert!((g[0] - 0.6).abs() < 1e-6 && (g[1] - 0.8).abs() < 1e-6);
        assert!((clip_norm(&mut g, 10.0) - 1.0).abs() < 1e-6);
    }
}
