import {
  cut,
  detach,
  endLink,
  type Found,
  keepIn,
  loadLink,
  noteMissed,
  post,
  type Without,
} from './store.ts';
import { type Configuration, messageOf, NONE, type Poster, type State, WIDE } from './world.ts';

/** Changes a copy of the state by one step, and describes the step. */
export type Emit = (label: string, change: (state: State) => void, isFault?: boolean) => void;

/** A publisher's handler posts its messages one after another, after the connection that it has matched (`endFailed`). */
export function publisherSteps(
  config: Configuration,
  without: Without,
  state: State,
  place: number,
  emit: Emit,
) {
  const { done, step, at } = state.publishers[place] as Poster;
  const filters = config.publishers[place] ?? '';
  if (done >= filters.length) return;
  const message = messageOf(place, done);
  const filter = Number(filters[done]);
  const change = (label: string, does: (next: State, poster: Poster) => void) =>
    emit(`publisher ${place + 1}, message ${message}: ${label}`, (next) =>
      does(next, next.publishers[place] as Poster),
    );
  const finish = (poster: Poster) => Object.assign(poster, { done: done + 1, step: 'idle', at: 0 });
  switch (step) {
    case 'idle': {
      const entry = state.entries[filter] ?? NONE;
      return change(`matches connection ${entry}`, (next, poster) => {
        next.begun |= 1 << message;
        if (filter === WIDE) next.worker.jobs.push(message);
        if (filter === WIDE || entry === NONE) finish(poster);
        else Object.assign(poster, { step: 'post', at: entry });
      });
    }
    case 'post':
      return change(`posts to ${at}`, (next, poster) => {
        if (post(next, at, message)) finish(poster);
        else if (without('no-follow')) finish(poster);
        else poster.step = 'end';
      });
    case 'end':
      return change(`ends ${at}`, (next, poster) => {
        const found = endLink(next, at);
        if (found === 'connected') poster.step = 'tell';
        else follow(found, poster, () => finish(poster));
      });
    case 'tell':
      return change(`tells the session that ${at} is lost`, (next, poster) => {
        detach(next, at);
        poster.step = 'keep';
      });
    case 'keep':
      return change(`keeps it at ${at}`, (next, poster) => {
        const kept = keepIn(next, at, message, config.keptMax, without);
        if (kept === 'full') poster.step = 'miss';
        else if (kept === 'kept') finish(poster);
        else Object.assign(poster, { step: 'post', at: kept });
      });
    default:
      return change(`notes at ${at} that it is missing`, (next, poster) => {
        const movedTo = noteMissed(next, at);
        if (movedTo === NONE) finish(poster);
        else Object.assign(poster, { step: 'post', at: movedTo });
      });
  }
}

function follow(found: Found, poster: Poster, finish: () => void) {
  if (typeof found === 'string') return finish();
  if (found.movedTo !== NONE) Object.assign(poster, { step: 'post', at: found.movedTo });
  else if (found.wasConnected) poster.step = 'keep';
  else finish();
}

/** A worker posts a wide filter's messages (`fan-out/posts.ts`), and ends connections (`LostConnections`). */
export function workerSteps(without: Without, state: State, emit: Emit) {
  const { jobs, step, at, ended } = state.worker;
  const [message] = jobs;
  if (message === undefined) return;
  const change = (label: string, does: (next: State) => void) =>
    emit(`the worker, message ${message}: ${label}`, does);
  const finish = ({ worker }: State) => {
    worker.jobs.shift();
    Object.assign(worker, { step: 'idle', at: 0 });
  };
  switch (step) {
    case 'idle': {
      const entry = state.entries[WIDE] ?? NONE;
      if (ended !== 0) change('begins a new batch', (next) => Object.assign(next.worker, { ended: 0 }));
      return change(`reads connection ${entry}`, (next) => {
        if (entry === NONE || (ended >> entry) & 1) finish(next);
        else Object.assign(next.worker, { step: 'post', at: entry });
      });
    }
    case 'post':
      return change(`posts to ${at}`, (next) => {
        if (post(next, at, message) || without('no-follow')) finish(next);
        else next.worker.step = 'redirect';
      });
    case 'redirect': {
      const found = loadLink(state, at);
      const movedTo = typeof found === 'string' ? NONE : found.movedTo;
      return change(`looks where ${at} has moved`, (next) => {
        if (movedTo === NONE) Object.assign(next.worker, { step: 'end', ended: ended | (1 << at) });
        else Object.assign(next.worker, { step: 'post', at: movedTo });
      });
    }
    case 'cut':
      return change(`cuts ${at}`, (next) => {
        cut(next, at);
        next.worker.step = 'end';
      });
    case 'end':
      return change(`ends ${at}`, (next) => {
        const found = endLink(next, at);
        if (found === 'nothing') finish(next);
        else if (found !== 'connected' && found.movedTo !== NONE)
          missedThere(next, found.movedTo, finish, without);
        else if (found !== 'connected' && !found.wasConnected) finish(next);
        else next.worker.step = 'miss';
      });
    case 'miss':
      return change(`notes at ${at} that something is missing`, (next) => {
        const movedTo = noteMissed(next, at);
        if (movedTo === NONE) next.worker.step = 'tell';
        else missedThere(next, movedTo, finish, without);
      });
    default:
      return change(`tells the session that ${at} is lost`, (next) => {
        detach(next, at);
        finish(next);
      });
  }
}

/** The session has continued meanwhile. It is cut there: its client returns, and is told of the gap. */
function missedThere(next: State, to: number, finish: (next: State) => void, without: Without) {
  if (without('worker-drops')) finish(next);
  else Object.assign(next.worker, { step: 'cut', at: to });
}
