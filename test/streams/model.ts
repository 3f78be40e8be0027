import type { Model, Successor } from '../support/explore.ts';
import { publisherSteps, workerSteps } from './publishers.ts';
import { played, readerSteps } from './reader.ts';
import { type Configuration, has, type Mutation, startOf, type World } from './world.ts';

/** One topic of a stream, and the promises to one reader of it (docs/streams.md). */
export class StreamOfOneTopic implements Model<World> {
  readonly #configuration: Configuration;
  readonly #mutation: Mutation | undefined;

  constructor(configuration: Configuration, mutation?: Mutation) {
    this.#configuration = configuration;
    this.#mutation = mutation;
  }

  start(): World {
    return startOf(this.#configuration);
  }

  textOf(world: World): string {
    return JSON.stringify(world);
  }

  successors(world: World): readonly Successor<World>[] {
    return [
      ...publisherSteps(world, this.#configuration, this.#mutation),
      ...workerSteps(world, this.#mutation),
      ...readerSteps(world, this.#configuration, this.#mutation),
    ];
  }

  /** Numbers rise, and none comes twice: to a reader that lets `resume` put them in order. */
  violationOf({ reader: { seen } }: World): string | undefined {
    if (this.#configuration.reader === 'bare') return undefined;
    const at = seen.findIndex((number, index) => index > 0 && number <= (seen[index - 1] ?? 0));
    return at < 0 ? undefined : `${seen[at]} came behind ${seen[at - 1]}`;
  }

  /** Each acknowledged message has been seen, or a SUBACK has said that it may be missing. */
  violationAtEnd({ log, acknowledged, reader }: World): string | undefined {
    const messages = this.#configuration.publishers * this.#configuration.messages;
    for (let id = 0; id < messages; id += 1) {
      if (!has(acknowledged, id)) continue;
      const number = log.findIndex(({ message }) => message === id) + 1;
      if (number === 0) return `message ${id} was acknowledged, and has no place`;
      if (!reader.seen.includes(number) && number > reader.excused)
        return `message ${id}, acknowledged, in place ${number}, is lost`;
    }
    const held = played(reader.heard).sequence.heldCount;
    return held > 0 ? `${held} messages are held for ever` : undefined;
  }
}
