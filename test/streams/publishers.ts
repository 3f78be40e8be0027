import type { Successor } from '../support/explore.ts';
import { bit, type Configuration, has, type Mutation, type Publisher, type World } from './world.ts';

const NEXT = { step: 'idle', end: 0, found: 0, number: 0, over: 0 } as const;

/** The next steps of publishers' handlers. */
export function publisherSteps(
  world: World,
  { messages, isWide }: Configuration,
  mutation: Mutation | undefined,
): Successor<World>[] {
  return world.publishers.flatMap((publisher, index) => {
    const id = index * messages + publisher.message;
    const name = `publisher ${index}`;
    const step = (
      label: string,
      change: Partial<Publisher>,
      others: Partial<World> = {},
    ): Successor<World> => ({
      label: `${name} ${label}`,
      isFault: false,
      state: {
        ...world,
        ...others,
        publishers: world.publishers.map((each, at) => (at === index ? { ...each, ...change } : each)),
      },
    });
    if (publisher.step === 'idle') {
      if (publisher.message === messages) return [];
      const found = mutation === 'matches-before-place' ? world.subscribed : 0;
      return [step(`begins with message ${id}`, { step: 'began', found, over: world.over })];
    }
    const dies = {
      ...step(
        'dies',
        { ...NEXT, message: publisher.message + 1 },
        {
          over: world.over | bit(id),
          crashes: world.crashes - 1,
        },
      ),
      isFault: true,
    };
    return [...stepsOf(world, publisher, id, isWide, mutation, step), ...(world.crashes > 0 ? [dies] : [])];
  });
}

type Step = (label: string, change: Partial<Publisher>, others?: Partial<World>) => Successor<World>;

function stepsOf(
  world: World,
  publisher: Publisher,
  id: number,
  isWide: boolean,
  mutation: Mutation | undefined,
  step: Step,
): Successor<World>[] {
  const { end, found, number, message, over } = publisher;
  switch (publisher.step) {
    case 'began':
      return [step(`reads the end, ${world.log.length}`, { step: 'end-known', end: world.log.length })];
    case 'end-known': {
      const isFree = world.log.length === end || mutation === 'place-without-condition';
      if (!isFree) return [step('finds its place taken', { end: end + 1 })];
      const entry = { message: id, stable: stableAt(world, end, over, mutation), over };
      const log = [...world.log.slice(0, end), entry, ...world.log.slice(end + 1)];
      return [
        step(`places ${end + 1}, stable ${entry.stable}`, { step: 'placed', number: end + 1 }, { log }),
      ];
    }
    case 'placed':
      if (isWide)
        return [step(`leaves ${number} to workers`, { step: 'left' }, { jobs: [...world.jobs, number] })];
      return [
        step('looks up subscribers', {
          step: 'subscribers-known',
          found: mutation === 'matches-before-place' ? found : world.subscribed,
        }),
      ];
    case 'subscribers-known':
      return postsOf(world, number, found, mutation, (label, others) =>
        step(label, { step: 'left' }, others),
      );
    case 'left':
      return [
        step(
          'is answered',
          { ...NEXT, message: message + 1 },
          {
            over: world.over | bit(id),
            acknowledged: world.acknowledged | bit(id),
          },
        ),
      ];
    default:
      return [];
  }
}

/** Handlers that had ended before the message's own began have placed all their messages. */
function stableAt({ log, over }: World, end: number, known: number, mutation: Mutation | undefined): number {
  const ended = mutation === 'stable-while-its-handler-lives' ? -1 : known & over;
  let stable = 0;
  while (stable < end && has(ended, log[stable]?.message ?? 0)) stable += 1;
  return stable;
}

/** A post to a connection that has ended reaches no client. One that fails ends the connection. */
export function postsOf(
  world: World,
  number: number,
  found: number,
  mutation: Mutation | undefined,
  step: (label: string, others: Partial<World>) => Successor<World>,
): Successor<World>[] {
  const { reader } = world;
  if (found === 0 || found !== reader.connection) return [step(`finds no reader for ${number}`, {})];
  const posts = step(`posts ${number}`, { posted: world.posted | bit(number) });
  if (world.failures === 0) return [posts];
  const failures = world.failures - 1;
  const fails = step(
    `fails to post ${number}`,
    mutation === 'failed-post-forgotten' ? { failures } : { ...ended(world), failures },
  );
  return [posts, { ...fails, isFault: true }];
}

/** The connection is over: what was on its way is lost. */
export function ended({ reader }: World): Pick<World, 'reader' | 'posted'> {
  const heard = reader.heard.length > 0 ? [...reader.heard, { kind: 'drop' } as const] : [];
  return {
    reader: { ...reader, connection: 0, step: 'none', suback: undefined, isLive: false, heard },
    posted: 0,
  };
}

/** The next steps of workers. A job whose worker dies comes again. */
export function workerSteps(world: World, mutation: Mutation | undefined): Successor<World>[] {
  const [number, ...jobs] = world.jobs;
  if (number === undefined) return [];
  const step =
    (left: readonly number[]) =>
    (label: string, others: Partial<World>): Successor<World> => ({
      label: `a worker ${label}`,
      isFault: false,
      state: { ...world, ...others, jobs: left },
    });
  const found = world.subscribed;
  const done = postsOf(world, number, found, mutation, step(jobs));
  if (world.crashes === 0 || found !== world.reader.connection || found === 0) return done;
  const dies = step(world.jobs)(`posts ${number} and dies`, {
    posted: world.posted | bit(number),
    crashes: world.crashes - 1,
  });
  return [...done, { ...dies, isFault: true }];
}
