//! A rank's position in its groups, and the comparison of programs before the first message.

use fuser_artifact::{Artifact, Mesh};

use super::{Block, Engine, Fault, MeshError, Tag};
use crate::error::RuntimeError;
use crate::execute::Address;
use crate::run_plan::RunPlan;

/// The step in the tag of exchanges that belong to no step.
const NO_STEP: u32 = u32::MAX;

/// The numbers that say which program a rank runs, and with which shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub program: u64,
    pub shapes: u64,
}

impl Identity {
    pub fn new(program: u64, extents: &[i64]) -> Identity {
        let mix = |hash: u64, extent: &i64| {
            (hash ^ *extent as u64)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(29)
        };
        let shapes = extents.iter().fold(extents.len() as u64, mix);
        Identity { program, shapes }
    }

    fn bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.program.to_le_bytes());
        bytes[8..].copy_from_slice(&self.shapes.to_le_bytes());
        bytes
    }

    /// The difference of these from the numbers of rank 0; 0 for none.
    fn compare(own: [u8; 16], first: [u8; 16]) -> u64 {
        match () {
            () if own[..8] != first[..8] => OTHER_PROGRAM,
            () if own != first => OTHER_SHAPES,
            () => 0,
        }
    }
}

const OTHER_PROGRAM: u64 = 1;
const OTHER_SHAPES: u64 = 2;

/// A group that a rank belongs to.
struct Group {
    index: usize,
    /// The ranks, in the order of their indices.
    members: Vec<usize>,
    /// The exchanges so far.
    exchanges: u32,
}

/// A rank's persistent state, once all ranks are known to run this very program.
pub(crate) struct Seat {
    groups: Vec<Group>,
    blocks: Vec<Block<'static>>,
    pointers: Vec<Address>,
}

impl Seat {
    /// The position of a rank that runs an artifact, given all its versions and the plan of one of them.
    pub fn of_program(
        engine: &mut dyn Engine,
        artifact: &Artifact,
        plan: &RunPlan,
    ) -> Result<Seat, RuntimeError> {
        let identity = Identity::new(artifact.hash()?, &plan.extents);
        let one = Mesh {
            axes: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        let mesh = artifact.mesh.as_ref().unwrap_or(&one);
        Ok(Seat::meet(engine, mesh, &plan.groups, identity)?)
    }

    /// Compares the program with those of all other ranks.
    pub fn meet(
        engine: &mut dyn Engine,
        mesh: &Mesh,
        groups: &[Vec<u32>],
        identity: Identity,
    ) -> Result<Seat, MeshError> {
        compare(engine, identity)?;
        let (devices, ranks) = (mesh.devices(), engine.ranks());
        if devices != ranks {
            return Err(MeshError::Ranks { devices, ranks });
        }
        let rank = engine.rank();
        let group = |over: &Vec<u32>| Group {
            index: mesh.index(rank, over),
            members: (0..mesh.group_size(over))
                .map(|index| mesh.member(rank, over, index))
                .collect(),
            exchanges: 0,
        };
        Ok(Seat {
            groups: groups.iter().map(group).collect(),
            blocks: Vec::new(),
            pointers: Vec::new(),
        })
    }

    pub fn link<'a>(&'a mut self, engine: &'a mut dyn Engine) -> Link<'a> {
        Link {
            engine,
            seat: self,
            communications: 0,
        }
    }
}

/// Compares the identities of all programs on rank 0, which sends each rank the verdict: all ranks return the same
/// result.
fn compare(engine: &mut dyn Engine, identity: Identity) -> Result<(), MeshError> {
    let own = identity.bytes();
    let tag = |number| Tag {
        step: NO_STEP,
        number,
    };
    let mut verdict = [0; 16];
    if engine.rank() == 0 {
        let mut found = vec![[0; 16]; engine.ranks()];
        let blocks = found.iter_mut().enumerate().skip(1);
        let mut blocks: Vec<Block<'_>> = blocks
            .map(|(peer, receive)| Block {
                peer,
                send: &[],
                receive,
            })
            .collect();
        let sent = engine.exchange(tag(0), &mut blocks);
        sent.map_err(MeshError::Meeting)?;
        let others = found.iter().enumerate().skip(1);
        let mut others = others.map(|(rank, other)| (rank, Identity::compare(*other, own)));
        if let Some((rank, difference)) = others.find(|(_, difference)| *difference != 0) {
            verdict[..8].copy_from_slice(&difference.to_le_bytes());
            verdict[8..].copy_from_slice(&(rank as u64).to_le_bytes());
        }
        let mut blocks: Vec<Block<'_>> = (1..engine.ranks())
            .map(|peer| Block {
                peer,
                send: &verdict,
                receive: &mut [],
            })
            .collect();
        let sent = engine.exchange(tag(1), &mut blocks);
        sent.map_err(MeshError::Meeting)?;
    } else {
        let mut one = |number, send: &[u8], receive: &mut [u8]| {
            let block = Block {
                peer: 0,
                send,
                receive,
            };
            let sent = engine.exchange(tag(number), &mut [block]);
            sent.map_err(MeshError::Meeting)
        };
        one(0, &own, &mut [])?;
        one(1, &[], &mut verdict)?;
    }
    let word = |at: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&verdict[at..at + 8]);
        u64::from_le_bytes(word)
    };
    let rank = usize::try_from(word(8)).unwrap_or(usize::MAX);
    match word(0) {
        0 => Ok(()),
        OTHER_PROGRAM => Err(MeshError::Program { rank }),
        _ => Err(MeshError::Shapes { rank }),
    }
}

/// A rank in a run.
pub(crate) struct Link<'a> {
    engine: &'a mut dyn Engine,
    seat: &'a mut Seat,
    /// The communications that have begun.
    pub communications: u64,
}

impl Link<'_> {
    /// This rank's index in a group.
    pub fn index(&self, group: usize) -> usize {
        self.seat.groups.get(group).map_or(0, |group| group.index)
    }

    /// Exchanges blocks with others of a group, each given with its index there.
    pub fn exchange<'b>(
        &mut self,
        step: usize,
        group: usize,
        given: impl Iterator<Item = (usize, &'b [u8], &'b mut [u8])>,
    ) -> Result<(), Fault> {
        let Some(group) = self.seat.groups.get_mut(group) else {
            return Ok(());
        };
        let tag = Tag {
            step: step as u32,
            number: group.exchanges,
        };
        group.exchanges = group.exchanges.wrapping_add(1);
        let mut blocks: Vec<Block<'b>> = std::mem::take(&mut self.seat.blocks);
        for (index, send, receive) in given {
            let silent = send.is_empty() && receive.is_empty();
            if let Some(&peer) = group.members.get(index).filter(|_| !silent) {
                blocks.push(Block {
                    peer,
                    send,
                    receive,
                });
            }
        }
        let done = match blocks.is_empty() {
            true => Ok(()),
            false => self.engine.exchange(tag, &mut blocks),
        };
        // The room of the blocks, for the next exchange: a list of none takes over the memory.
        blocks.clear();
        let none = blocks.into_iter().map(|block| Block {
            peer: block.peer,
            send: &[],
            receive: &mut [],
        });
        self.seat.blocks = none.collect();
        done
    }

    /// Room for the addresses of operands.
    pub fn take_pointers(&mut self) -> Vec<Address> {
        let mut pointers = std::mem::take(&mut self.seat.pointers);
        pointers.clear();
        pointers
    }

    pub fn give_pointers(&mut self, pointers: Vec<Address>) {
        self.seat.pointers = pointers;
    }
}
