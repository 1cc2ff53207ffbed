//! The devices that a program runs on, and the arithmetic of their ranks.
//!
//! A device has an index along each axis of its mesh. Its rank is the row-major number of these indices, the last axis
//! fastest. A group along some axes is a set of devices that differ along no other axis. The index of a device in its
//! group is the row-major number of its indices along these axes, in the order in which they are listed.

use serde::{Deserialize, Serialize};

use crate::artifact::{DimSpec, TensorSpec};
use crate::size::SizeExpr;

/// The devices that each run a program once, and the distribution of its tensors over them. The program's own inputs
/// and outputs are the parts of one device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mesh {
    pub axes: Vec<MeshAxis>,
    pub inputs: Vec<Sharding>,
    pub outputs: Vec<Sharding>,
}

/// An axis of a mesh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeshAxis {
    pub name: String,
    pub size: u32,
}

/// The mesh axes that split a tensor into equal parts. Devices that differ only along other axes hold copies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sharding {
    /// For each axis of the tensor, the mesh axes that split it, major first.
    pub dims: Vec<Vec<u32>>,
}

impl Mesh {
    /// The number of devices.
    pub fn devices(&self) -> usize {
        self.axes.iter().map(|axis| axis.size as usize).product()
    }

    /// The number of devices in a group along these axes.
    pub fn group_size(&self, over: &[u32]) -> usize {
        over.iter().map(|&axis| self.size(axis)).product()
    }

    /// The index of device `rank` in its group along the axes `over`.
    pub fn index(&self, rank: usize, over: &[u32]) -> usize {
        over.iter().fold(0, |index, &axis| {
            index * self.size(axis) + self.along(rank, axis)
        })
    }

    /// The rank of the device with index `index` in the group of `rank` along these axes.
    pub fn member(&self, rank: usize, over: &[u32], index: usize) -> usize {
        let (mut rest, mut member) = (index, rank);
        for &axis in over.iter().rev() {
            let (size, stride) = (self.size(axis), self.stride(axis));
            member = member - self.along(rank, axis) * stride + rest % size * stride;
            rest /= size;
        }
        member
    }

    /// The index of a device along an axis.
    fn along(&self, rank: usize, axis: u32) -> usize {
        rank / self.stride(axis) % self.size(axis)
    }

    /// The distance of the ranks of neighbours along an axis.
    fn stride(&self, axis: u32) -> usize {
        let after = self.axes.iter().skip(axis as usize + 1);
        after.map(|axis| axis.size as usize).product()
    }

    fn size(&self, axis: u32) -> usize {
        self.axes
            .get(axis as usize)
            .map_or(1, |axis| axis.size as usize)
    }

    /// The number of parts into which the axis `dim` of a tensor is split.
    pub fn parts(&self, sharding: &Sharding, dim: usize) -> usize {
        self.group_size(sharding.axes(dim))
    }

    /// The number of a device's part along the axis `dim` of a tensor.
    pub fn part(&self, sharding: &Sharding, dim: usize, rank: usize) -> usize {
        self.index(rank, sharding.axes(dim))
    }

    /// True for the first of the devices that hold copies of the same part of a tensor.
    pub fn is_first(&self, sharding: &Sharding, rank: usize) -> bool {
        let cut = |axis: &u32| sharding.dims.iter().flatten().any(|own| own == axis);
        let mut others = (0..self.axes.len() as u32).filter(|axis| !cut(axis));
        others.all(|axis| self.along(rank, axis) == 0)
    }

    /// The tensor of all devices, given the part of one device.
    pub fn whole(&self, sharding: &Sharding, part: &TensorSpec) -> TensorSpec {
        let dims = part.dims.iter().enumerate().map(|(at, dim)| DimSpec {
            extent: match self.parts(sharding, at) {
                1 => dim.extent.clone(),
                parts => dim.extent.clone() * SizeExpr::constant(parts as i64),
            },
            broadcast: dim.broadcast,
        });
        TensorSpec {
            dims: dims.collect(),
            ..part.clone()
        }
    }

    /// The inputs of all devices, given those of one device.
    pub fn whole_inputs(&self, inputs: &[TensorSpec]) -> Vec<TensorSpec> {
        let pairs = self.inputs.iter().zip(inputs);
        pairs.map(|(own, part)| self.whole(own, part)).collect()
    }
}

impl Sharding {
    /// A tensor of this rank that every device holds whole.
    pub fn copied(rank: usize) -> Sharding {
        Sharding {
            dims: vec![Vec::new(); rank],
        }
    }

    /// The mesh axes that cut an axis of the tensor.
    pub fn axes(&self, dim: usize) -> &[u32] {
        self.dims.get(dim).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh(sizes: &[u32]) -> Mesh {
        let axis = |(at, &size): (usize, &u32)| MeshAxis {
            name: format!("a{at}"),
            size,
        };
        Mesh {
            axes: sizes.iter().enumerate().map(axis).collect(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// All devices, each as its indices along the axes.
    fn devices(sizes: &[u32]) -> Vec<Vec<u32>> {
        sizes.iter().fold(vec![Vec::new()], |devices, &size| {
            let longer = |device: &Vec<u32>| {
                let device = device.clone();
                (0..size).map(move |at| [&device[..], &[at]].concat())
            };
            devices.iter().flat_map(longer).collect()
        })
    }

    /// All lists of distinct axes.
    fn lists(axes: u32) -> Vec<Vec<u32>> {
        let (mut all, mut at) = (vec![Vec::new()], 0);
        while at < all.len() {
            let longer: Vec<_> = (0..axes)
                .filter(|axis| !all[at].contains(axis))
                .map(|axis| [&all[at][..], &[axis]].concat())
                .collect();
            all.extend(longer);
            at += 1;
        }
        all
    }

    #[test]
    fn groups_are_those_of_an_enumeration() {
        for sizes in [
            &[][..],
            &[1],
            &[5],
            &[2, 3],
            &[3, 1, 2],
            &[2, 2, 3],
            &[2, 4],
        ] {
            let (mesh, devices) = (mesh(sizes), devices(sizes));
            assert_eq!(mesh.devices(), devices.len());
            for over in lists(sizes.len() as u32) {
                for (rank, own) in devices.iter().enumerate() {
                    let alike = |other: &Vec<u32>| {
                        let mut axes = 0..sizes.len();
                        axes.all(|a| over.contains(&(a as u32)) || own[a] == other[a])
                    };
                    let place = |device: &Vec<u32>| {
                        let along = over.iter().map(|&axis| device[axis as usize]);
                        along.collect::<Vec<u32>>()
                    };
                    let mut group: Vec<_> = devices.iter().enumerate().collect();
                    group.retain(|(_, device)| alike(device));
                    group.sort_by_key(|(_, device)| place(device));
                    let group: Vec<usize> = group.into_iter().map(|(rank, _)| rank).collect();
                    assert_eq!(mesh.group_size(&over), group.len());
                    let index = mesh.index(rank, &over);
                    assert_eq!(group[index], rank, "{sizes:?} over {over:?}");
                    let members = 0..group.len();
                    let members = members.map(|at| mesh.member(rank, &over, at));
                    assert_eq!(members.collect::<Vec<_>>(), group);
                }
            }
        }
    }

    #[test]
    fn each_part_counts_once() {
        let mesh = mesh(&[2, 3, 2]);
        for dims in [
            vec![],
            vec![vec![], vec![1]],
            vec![vec![2, 0], vec![]],
            vec![vec![1], vec![0], vec![2]],
        ] {
            let sharding = Sharding { dims };
            let ranks = (0..mesh.devices()).filter(|&rank| mesh.is_first(&sharding, rank));
            let parts = ranks.map(|rank| {
                let dims = 0..sharding.dims.len();
                let part = dims.map(|dim| mesh.part(&sharding, dim, rank));
                part.collect::<Vec<_>>()
            });
            let mut parts: Vec<_> = parts.collect();
            parts.sort_unstable();
            let counts = (0..sharding.dims.len()).map(|dim| mesh.parts(&sharding, dim) as u32);
            let expected = devices(&counts.collect::<Vec<_>>());
            let same = |part: &Vec<u32>| part.iter().map(|&at| at as usize).collect::<Vec<_>>();
            assert_eq!(parts, expected.iter().map(same).collect::<Vec<_>>());
        }
    }
}
