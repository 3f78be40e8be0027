import type { Emit } from './posters.ts';
import {
  cut,
  detach,
  endLink,
  loadLink,
  moveLink,
  repoint,
  resumeLink,
  saveLink,
  type Without,
} from './store.ts';
import {
  CONNECTIONS,
  type Configuration,
  FILTERS,
  filtersOf,
  type Handler,
  NONE,
  type Reply,
  type State,
} from './world.ts';

/** Moves of which the client does not know. */
const HOPS_MAX = 4;

/*
 * Steps of `handleMove` and `handleResume` (packages/aws/src/frames). Those of the entries begin at `ENTRIES`, one for
 * each filter.
 */
const ENTRIES = 10;
const AFTER_ENTRIES = ENTRIES + FILTERS;
const CUT_LAST = AFTER_ENTRIES + 2;

export function handlerSteps(
  config: Configuration,
  without: Without,
  state: State,
  place: number,
  emit: Emit,
) {
  const handler = state.handlers[place] as Handler;
  const name = `the ${handler.does} to ${handler.to}`;
  const go: Go = (label, does) =>
    emit(`${name}: ${label}`, (next) => {
      const running = next.handlers[place] as Handler;
      const reply = does(next, running);
      if (typeof reply === 'number') running.step = reply;
      else end(next, running, reply);
    });
  if (state.crashes > 0)
    emit(
      `${name} DIES at step ${handler.step}`,
      (next) => {
        next.crashes -= 1;
        next.handlers.splice(place, 1);
      },
      true,
    );
  if (handler.step >= ENTRIES && handler.step < AFTER_ENTRIES)
    return repointStep(config, without, handler, go);
  if (handler.does === 'move') moveStep(config, without, state, handler, go);
  else resumeStep(without, state, handler, go);
}

/** The next step, a reply, or the end without one. */
type Next = number | Reply | 'ends';
type Go = (label: string, does: (next: State, handler: Handler) => Next) => void;

const REFUSED: Reply = { kind: 'refused', packets: [], hasGap: false };

function end(next: State, handler: Handler, reply: Reply | 'ends') {
  next.handlers.splice(next.handlers.indexOf(handler), 1);
  if (reply !== 'ends' && next.sockets[handler.to] === 'open') next.replies[handler.to] ??= reply;
}

function repointStep(
  config: Configuration,
  without: Without,
  { does, from, to, chain, step }: Handler,
  go: Go,
) {
  const filter = step - ENTRIES;
  const after = filtersOf(config).find((each) => each > filter);
  const next = after === undefined ? AFTER_ENTRIES : ENTRIES + after;
  go(`its entry of filter ${filter}`, (state) => {
    repoint(state, filter, without('last-link-only') ? 1 << from : chain, to, without);
    return next === AFTER_ENTRIES && does === 'move' && config.cutsLast ? CUT_LAST : next;
  });
}

function moveStep(
  { cutsLast }: Configuration,
  without: Without,
  state: State,
  { from, to, step }: Handler,
  go: Go,
) {
  switch (step) {
    case 0: {
      const found = loadLink(state, from);
      const isHere = typeof found !== 'string' && found.movedTo === to;
      const mayMove = found === 'connected' || isHere || without('move-twice');
      return go(`finds ${from} ${mayMove ? 'there' : 'gone'}`, () => (mayMove ? 1 : REFUSED));
    }
    case 1:
      if (without('entries-before-end')) return go('begins with the entries', () => ENTRIES);
      return go(`${from} has moved`, (next) => (moveLink(next, from, to, without) ? 2 : REFUSED));
    case 2:
      return go('takes the state', (next) => {
        if (saveLink(next, to, without)) return cutsLast ? 4 : 3;
        cut(next, from);
        detach(next, from);
        return 'ends';
      });
    case 3:
      return go(`cuts ${from}`, (next) => {
        cut(next, from);
        return 4;
      });
    case 4:
      return go('takes the session', (next) => {
        const { session } = next;
        const isIts = !session.isTakenOver && (session.connection === from || session.connection === to);
        if (isIts) Object.assign(session, { connection: to, last: to });
        if (isIts) return without('entries-before-end') ? AFTER_ENTRIES : ENTRIES;
        if (cutsLast) cut(next, from);
        endLink(next, to);
        cut(next, to);
        return 'ends';
      });
    case CUT_LAST:
      return go(`cuts ${from}`, (next) => {
        cut(next, from);
        return AFTER_ENTRIES;
      });
    default:
      if (without('entries-before-end') && loadLink(state, from) === 'connected')
        return go(`${from} has moved`, (next) => (moveLink(next, from, to, without) ? 2 : REFUSED));
      return go('looks at itself, and replies', (next) => {
        const found = loadLink(next, to);
        if (typeof found === 'string' || without('no-look-at-end'))
          return { kind: 'moved', packets: [], hasGap: false };
        detach(next, to);
        return 'ends';
      });
  }
}

function resumeStep(without: Without, state: State, { to, shown, from, hasEnded, step }: Handler, go: Go) {
  switch (step) {
    case 0: {
      const found = loadLink(state, from);
      return go(`finds ${from}`, (_, handler) => {
        if (found === 'nothing') return REFUSED;
        if (found === 'connected') return from === shown ? 1 : REFUSED;
        if (!found.wasConnected) return REFUSED;
        handler.hasEnded = true;
        if (found.movedTo === NONE || found.movedTo >= Math.min(CONNECTIONS, HOPS_MAX)) return 3;
        handler.from = found.movedTo;
        handler.chain |= 1 << found.movedTo;
        return found.movedTo === to ? REFUSED : 0;
      });
    }
    case 1:
      return go(`ends ${from}`, (next) => {
        endLink(next, from);
        return 2;
      });
    case 2:
      return go(`cuts ${from}`, (next) => {
        cut(next, from);
        return 3;
      });
    case 3:
      return go(`finds the session${hasEnded ? '' : ', lost just now'}`, (next) => {
        if (next.session.isTakenOver) return REFUSED;
        detach(next, from);
        return isWillGone(next) && !without('will-not-asked') ? REFUSED : 4;
      });
    case 4:
      return go('takes the session', (next) => {
        const { session } = next;
        if (session.isTakenOver || session.connection !== NONE || session.last !== from) return REFUSED;
        if (isWillGone(next) && !without('will-not-asked')) return REFUSED;
        Object.assign(session, { connection: to, last: to });
        if (session.will === 'due') session.will = 'stands';
        return 5;
      });
    case 5:
      return go(`what was kept at ${from}`, (next, handler) => {
        const found = resumeLink(next, from, to);
        handler.kept = found?.kept ?? [];
        handler.hasGap = found?.hasMissed !== false || from !== shown;
        return ENTRIES;
      });
    case AFTER_ENTRIES:
      return go('takes the state', (next) => {
        if (saveLink(next, to, without)) return AFTER_ENTRIES + 1;
        detach(next, to);
        return 'ends';
      });
    default:
      return go('replies', (_, { kept, hasGap }) => {
        return { kind: 'resumed', packets: kept, hasGap: hasGap && !without('no-gap') };
      });
  }
}

/** The publication of its message has begun. */
const isWillGone = ({ session }: State): boolean => session.will === 'begun' || session.will === 'done';

/** `$disconnect`, the timer of the will, and a CONNECT that takes the session over. */
export function otherSteps(state: State, emit: Emit) {
  for (const [connection, step] of state.disconnects.entries()) {
    if (step === 'due')
      emit(`$disconnect of ${connection} ends it`, (next) => {
        next.disconnects[connection] = endLink(next, connection) === 'connected' ? 'tell' : 'none';
      });
    if (step === 'tell')
      emit(`$disconnect of ${connection} tells the session`, (next) => {
        detach(next, connection);
        next.disconnects[connection] = 'none';
      });
  }
  willSteps(state, emit);
}

function willSteps({ session, willTimer }: State, emit: Emit) {
  if (session.will === 'due' && willTimer === 'idle')
    emit('the will is due', (next) => {
      next.session.will = 'begun';
      next.willTimer = 'publish';
    });
  if (willTimer === 'publish')
    emit('the will is published', (next) => {
      next.isWillPublished = true;
      next.session.will = 'done';
      next.willTimer = 'done';
    });
}

/** CONNECT with the same client identifier and Clean Start (`endPrevious`, `endAll`, `discardState`). */
export function takeOverSteps(state: State, emit: Emit) {
  const { step, ended } = state.takeOver;
  const last = ended.at(-1) ?? NONE;
  const change = (label: string, does: (next: State) => void) => emit(`the take-over ${label}`, does);
  if (step === 0)
    return change('has the session', (next) => {
      const { connection, last: before } = next.session;
      next.takeOver = { step: 1, ended: [connection === NONE ? before : connection] };
      next.session.isTakenOver = true;
      next.session.connection = NONE;
    });
  if (step === 1)
    return change(`ends ${last}`, (next) => {
      const found = endLink(next, last);
      const movedTo = typeof found === 'string' ? NONE : found.movedTo;
      if (movedTo === NONE) next.takeOver.step = 2;
      else next.takeOver.ended.push(movedTo);
    });
  if (step === 2)
    return change(`cuts ${ended.join(' and ')}`, (next) => {
      for (const connection of ended) cut(next, connection);
      next.takeOver.step = 3;
    });
  const filter = step - 3;
  if (filter >= FILTERS) return;
  change(`removes the entry of filter ${filter}`, (next) => {
    next.entries[filter] = NONE;
    next.takeOver.step += 1;
  });
}
