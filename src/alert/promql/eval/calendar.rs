//! Dates of Unix seconds, in UTC. Days are counted as Howard Hinnant's `civil_from_days` counts them.

use super::super::functions::Id;

pub struct Date {
    days: i64,
    second_of_day: i64,
    year: i64,
    month: i64,
    day: i64,
}

impl Date {
    /// `None` where the time is no number, or so far away that years do not fit.
    pub fn new(seconds: f64) -> Option<Self> {
        // Further away than Go's calendar reaches; and so that sums below cannot overflow.
        if !seconds.is_finite() || seconds.abs() > 9e15 {
            return None;
        }
        let whole = seconds.trunc() as i64;
        let (days, second_of_day) = (whole.div_euclid(86_400), whole.rem_euclid(86_400));
        let shifted = days + 719_468;
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Some(Self { days, second_of_day, year, month, day })
    }

    fn is_leap(&self) -> bool {
        self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0)
    }

    fn days_in_month(&self) -> i64 {
        match self.month {
            2 if self.is_leap() => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    fn day_of_year(&self) -> i64 {
        const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
        let month = usize::try_from(self.month - 1).unwrap_or(0).min(11);
        BEFORE[month] + self.day + i64::from(self.month > 2 && self.is_leap())
    }
}

/// Which part of a date a function gives.
pub fn part(id: Id) -> Option<fn(&Date) -> f64> {
    Some(match id {
        Id::Minute => |date| (date.second_of_day / 60 % 60) as f64,
        Id::Hour => |date| (date.second_of_day / 3600) as f64,
        Id::DayOfMonth => |date| date.day as f64,
        // 1970 began on a Thursday; Sunday is 0.
        Id::DayOfWeek => |date| (date.days + 4).rem_euclid(7) as f64,
        Id::DayOfYear => |date| date.day_of_year() as f64,
        Id::DaysInMonth => |date| date.days_in_month() as f64,
        Id::Month => |date| date.month as f64,
        Id::Year => |date| date.year as f64,
        _ => return None,
    })
}
