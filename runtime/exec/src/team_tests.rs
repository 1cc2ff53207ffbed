//! Tests of teams: every piece once, whoever sleeps, calls, panics or ends.

use super::*;
use std::panic::catch_unwind;
use std::sync::Barrier;
use std::sync::atomic::AtomicU32;
use std::thread::sleep;

const EFFORTS: [Effort; 3] = [Effort::Tiny, Effort::Unknown, Effort::Heavy];

/// The number of times that each piece of a loop ran.
fn runs(team: &Team, count: usize, effort: Effort) -> Vec<u32> {
    let runs: Vec<AtomicU32> = (0..count).map(|_| AtomicU32::new(0)).collect();
    team.run(count as i64, effort, &|_, index| {
        runs[index as usize].fetch_add(1, Relaxed);
    });
    runs.into_iter().map(AtomicU32::into_inner).collect()
}

#[test]
fn each_piece_runs_once_in_every_loop() {
    for (helpers, watches) in [(1, true), (1, false), (3, true), (3, false)] {
        let team = Team::start(helpers, watches).unwrap();
        for round in 0..3000 {
            let (count, effort) = (round % 41, EFFORTS[round % 3]);
            assert_eq!(runs(&team, count, effort), vec![1; count], "round {round}");
        }
    }
}

#[test]
fn helpers_that_sleep_are_woken_by_heavy_loops_and_by_long_pieces() {
    let team = Team::start(1, true).unwrap();
    for effort in [Effort::Unknown, Effort::Heavy] {
        // The helper sleeps by then.
        sleep(WATCH * 100);
        let both = Barrier::new(2);
        team.run(3, effort, &|_, index| {
            if index == 0 {
                sleep(WORTH_WAKING);
            } else {
                // Hangs unless each member comes here once.
                both.wait();
            }
        });
    }
}

#[test]
fn a_member_does_one_thing_at_a_time() {
    let team = Team::start(3, true).unwrap();
    let busy: Vec<Mutex<()>> = (0..4).map(|_| Mutex::new(())).collect();
    for _ in 0..200 {
        team.run(64, Effort::Heavy, &|member, _| {
            let _alone = busy[member].try_lock().expect("two pieces at a time");
            std::thread::yield_now();
        });
    }
}

#[test]
fn callers_beside_each_other_do_all_their_pieces() {
    let team = Team::start(2, true).unwrap();
    std::thread::scope(|scope| {
        for caller in 0..3 {
            let team = &team;
            scope.spawn(move || {
                for round in 0..1000 {
                    let effort = EFFORTS[(caller + round) % 3];
                    assert_eq!(runs(team, 17, effort), [1; 17]);
                }
            });
        }
    });
}

#[test]
fn panics_of_any_member_reach_the_caller_and_end_nothing() {
    let team = Team::start(2, true).unwrap();
    for of_a_helper in [false, true] {
        let panicked = AtomicU32::new(0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            team.run(1000, Effort::Heavy, &|member, _| {
                sleep(Duration::from_micros(20));
                if (member > 0) == of_a_helper && panicked.fetch_add(1, Relaxed) == 0 {
                    panic!("as meant");
                }
            });
        }));
        let payload = result.expect_err("the loop has many pieces for each member");
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"as meant"));
        assert_eq!(runs(&team, 100, Effort::Heavy), [1; 100]);
    }
}

#[test]
fn a_team_ends_while_its_helpers_sleep_or_watch() {
    for pause in [0, 1000] {
        for _ in 0..20 {
            let team = Team::start(3, true).unwrap();
            runs(&team, 5, Effort::Heavy);
            sleep(Duration::from_micros(pause));
        }
    }
}
