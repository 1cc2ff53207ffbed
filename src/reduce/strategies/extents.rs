//! Reduction of extents to small ones, each everywhere at once (in types, shapes and signatures), so that shapes still
//! agree.
//!
//! An extent is identified by its number or its name: two axes of 1024 shrink together. `divide` divides all multiples
//! of an extent by a factor of it, as required by a reshape of 24 to 6 by 4.

use std::collections::BTreeSet;

use fuser_ir::{Extent, Ir, Op, Sym};

use crate::reduce::retype::{self, Change};
use crate::reduce::strategy::{Site, Strategy};

macro_rules! strategies {
    ($($ident:ident $name:literal $doc:literal $sites:expr, $change:expr, $again:expr;)*) => {$(
        #[doc = concat!("`", $name, "`")]
        pub static $ident: Strategy = Strategy {
            name: $name,
            doc: $doc,
            sites: $sites,
            apply: |ir, module, sites| apply(ir, module, sites, $change),
            again: $again,
        };
    )*};
}

strategies! {
    NAMES_TO_1 "names-to-1" "make named extents 1" names, |change, site| set(change, site, 1), false;
    NAMES_TO_2 "names-to-2" "make named extents 2" names, |change, site| set(change, site, 2), false;
    NAMES_TO_3 "names-to-3" "make named extents 3" names, |change, site| set(change, site, 3), false;
    TO_1 "extents-to-1" "make static extents 1" |ir, m| beyond(ir, m, 1), |change, site| set(change, site, 1), false;
    TO_2 "extents-to-2" "make static extents 2" |ir, m| beyond(ir, m, 2), |change, site| set(change, site, 2), false;
    TO_3 "extents-to-3" "make static extents 3" |ir, m| beyond(ir, m, 3), |change, site| set(change, site, 3), false;
    DIVIDE "divide-extents" "divide all multiples of an extent by it" |ir, m| beyond(ir, m, 1), divide, false;
    HALVE "halve-extents" "halve static extents, rounding down" |ir, m| beyond(ir, m, 3), halve, true;
}

/// The static extents beyond `least`, ascending.
fn beyond(ir: &Ir, module: Op, least: u64) -> Vec<Site> {
    let extents = retype::extents(ir, module).into_iter();
    let statics = extents.filter_map(|extent| match extent {
        Extent::Static(n) if n > least => Some(n),
        _ => None,
    });
    let statics: BTreeSet<u64> = statics.collect();
    statics.into_iter().map(Site::Extent).collect()
}

/// The names in extents, by their text.
fn names(ir: &Ir, module: Op) -> Vec<Site> {
    let mut names = BTreeSet::<(&str, Sym)>::new();
    for extent in retype::extents(ir, module) {
        if let Extent::Symbolic(id) = extent {
            let terms = ir.extent_expr(id).terms.iter();
            let found = terms.flat_map(|(names, _)| names);
            names.extend(found.map(|&name| (ir.str(name), name)));
        }
    }
    names
        .into_iter()
        .map(|(_, name)| Site::Name(name))
        .collect()
}

fn apply(ir: &mut Ir, module: Op, sites: &[Site], add: fn(&mut Change, Site)) {
    let mut change = Change::default();
    for site in sites {
        add(&mut change, *site);
    }
    change.apply(ir, module);
}

fn set(change: &mut Change, site: Site, to: u32) {
    match site {
        Site::Extent(from) => drop(change.statics.insert(from, to.into())),
        Site::Name(name) => drop(change.names.insert(name, to.into())),
        _ => {}
    }
}

fn halve(change: &mut Change, site: Site) {
    if let Site::Extent(from) = site {
        change.statics.insert(from, from / 2);
    }
}

fn divide(change: &mut Change, site: Site) {
    if let Site::Extent(divisor) = site {
        change.divisors.push(divisor);
    }
}
