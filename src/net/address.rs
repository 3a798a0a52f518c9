//! Which addresses may be connected to.
//!
//! An address is checked where the connection is made: behind the resolver, so that a name that says something else the second time gains
//! nothing, and for addresses that stand in the URL itself, which no resolver sees.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Which addresses a client may connect to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AddressRules {
    /// What the operator configured: every address.
    #[default]
    Any,
    /// What a model or a stranger names: the public internet, and of the rest only these networks.
    PublicOnly { allow: Vec<Network> },
}

impl AddressRules {
    /// Why this address may not be connected to, if so.
    pub fn refusal(&self, address: IpAddr) -> Option<String> {
        match self {
            AddressRules::Any => None,
            AddressRules::PublicOnly { allow } => {
                let kind = not_public(address)?;
                let listed = allow.iter().any(|network| network.contains(address));
                (!listed).then(|| format!("{address} is {kind}, and not among the networks that are allowed"))
            }
        }
    }
}

/// `10.0.0.0/8`, `fd00::/8`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix_bits: u32,
}

impl Network {
    pub fn contains(&self, address: IpAddr) -> bool {
        let matches = |own: u128, other: u128, bits: u32| {
            let skipped = bits - self.prefix_bits;
            own.checked_shr(skipped) == other.checked_shr(skipped)
        };
        match (self.address, unmapped(address)) {
            (IpAddr::V4(own), IpAddr::V4(other)) => matches(u32::from(own).into(), u32::from(other).into(), 32),
            (IpAddr::V6(own), IpAddr::V6(other)) => matches(own.into(), other.into(), 128),
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || format!("`{text}` is no network; write one such as 10.0.0.0/8, or one address");
        let (address, prefix) = text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
        let address = unmapped(address.parse().map_err(|_| fault())?);
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let prefix_bits = prefix.map_or(Ok(bits), |prefix| prefix.parse().map_err(|_| fault()))?;
        if prefix_bits > bits { Err(fault()) } else { Ok(Self { address, prefix_bits }) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix_bits)
    }
}

/// `::ffff:a.b.c.d` is the IPv4 address that it stands for.
fn unmapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// What an address is that is not of the public internet (IANA's registries of special-purpose addresses).
fn not_public(address: IpAddr) -> Option<&'static str> {
    match unmapped(address) {
        IpAddr::V4(v4) => v4_kind(v4),
        IpAddr::V6(v6) => v6_kind(v6),
    }
}

fn v4_kind(address: Ipv4Addr) -> Option<&'static str> {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        (0, ..) => Some("an address of this host"),
        (127, ..) => Some("a loopback address"),
        (10, ..) | (172, 16..=31, _) | (192, 168, _) => Some("a private address"),
        (100, 64..=127, _) => Some("an address shared by a provider's customers"),
        (169, 254, _) => Some("a link-local address, where clouds keep their metadata"),
        (192, 0, 0 | 2) | (198, 51, 100) | (203, 0, 113) | (198, 18..=19, _) => Some("reserved for tests and protocols"),
        (192, 88, 99) => Some("a relay for IPv6"),
        (224..=239, ..) => Some("a multicast address"),
        (240..=255, ..) => Some("a reserved address"),
        _ => None,
    }
}

fn v6_kind(address: Ipv6Addr) -> Option<&'static str> {
    let segments = address.segments();
    match segments {
        _ if address.is_unspecified() => Some("an address of this host"),
        _ if address.is_loopback() => Some("a loopback address"),
        // NAT64 and 6to4 carry an IPv4 address: what that is holds.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4_kind(v4_of(high, low)),
        [0x2002, high, low, ..] => v4_kind(v4_of(high, low)),
        [0x64, 0xff9b, ..] => Some("an address of a local translation"),
        [0xfc00..=0xfdff, ..] => Some("a private address"),
        [0xfe80..=0xfebf, ..] => Some("a link-local address"),
        [0xfec0..=0xfeff, ..] => Some("a site-local address"),
        [0xff00..=0xffff, ..] => Some("a multicast address"),
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Some("reserved for tests and protocols"),
        // Only 2000::/3 is handed out.
        [0x2000..=0x3fff, ..] => None,
        _ => Some("not of the public internet"),
    }
}

fn v4_of(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_not_public_is_refused_in_every_writing() {
        let rules = AddressRules::PublicOnly { allow: Vec::new() };
        for text in [
            "0.0.0.0",
            "127.0.0.1",
            "127.255.255.254",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001::1",
            "2001:db8::1",
            "100::1",
        ] {
            assert!(rules.refusal(ip(text)).is_some(), "{text}");
            assert_eq!(AddressRules::Any.refusal(ip(text)), None);
        }
        for text in [
            "1.1.1.1",
            "172.32.0.1",
            "100.128.0.1",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
            "2002:101:101::",
            "2606:4700::1111",
            "2001:4860::8888",
        ] {
            assert_eq!(rules.refusal(ip(text)), None, "{text}");
        }
    }

    #[test]
    fn networks_that_are_listed_are_allowed() {
        let rules = AddressRules::PublicOnly { allow: ["10.0.0.0/8", "127.0.0.1", "fd00::/8"].map(|text| text.parse().unwrap()).into() };
        for text in ["10.255.0.1", "127.0.0.1", "::ffff:127.0.0.1", "fdff::1"] {
            assert_eq!(rules.refusal(ip(text)), None, "{text}");
        }
        for text in ["11.0.0.1", "127.0.0.2"] {
            assert_eq!(rules.refusal(ip(text)).is_some(), text == "127.0.0.2", "{text}");
        }
        assert!("0.0.0.0/0".parse::<Network>().unwrap().contains(ip("9.9.9.9")));
        assert!("::/0".parse::<Network>().unwrap().contains(ip("9::9")));
        for text in ["", "10.0.0.0/33", "10.0.0/8", "fd00::/129", "10.0.0.0/-1", "host"] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
        assert_eq!("10.0.0.0/8".parse::<Network>().unwrap().to_string(), "10.0.0.0/8");
    }
}
