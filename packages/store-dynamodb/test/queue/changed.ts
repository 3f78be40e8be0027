import type { State } from './world.ts';

/**
 * The state with something else in it. Every step makes one or more of these, and V8 copies an object literal that is
 * written out several times as fast as a spread of as many properties.
 */
export function changed(state: State, to: Partial<State>): State {
  return Object.assign(copyOf(state), to);
}

function copyOf(state: State): State {
  return {
    record: state.record,
    log: state.log,
    deduplication: state.deduplication,
    handedOn: state.handedOn,
    client: state.client,
    frames: state.frames,
    acks: state.acks,
    publishHandlers: state.publishHandlers,
    publishers: state.publishers,
    isJobDone: state.isJobDone,
    reply: state.reply,
    posts: state.posts,
    nextPosts: state.nextPosts,
    moves: state.moves,
    movedTo: state.movedTo,
    sockets: state.sockets,
    tombstones: state.tombstones,
    owner: state.owner,
    budgets: state.budgets,
    sweeps: state.sweeps,
    acknowledged: state.acknowledged,
    delivered: state.delivered,
    violation: state.violation,
  };
}
