import { Inbound } from '@apus/door';
import { Random } from '@apus/simulation';
import { GatedWriter } from '@apus/store-disk';
import { InflightWindow } from '@apus/store-memory';
import { afterEach, expect, it, vi } from 'vitest';
import { DRAWS } from '../../../store-disk/test/histories/cast.ts';
import { AlarmClock } from '../../src/alarm-clock.ts';
import { HubLinks } from '../../src/links/hub-links.ts';
import { Records } from '../../src/storage/records.ts';
import { SimulatedObject, SimulatedSocket } from '../object/simulated-object.ts';
import { HubHistory } from './history.ts';

/** If a missing protection shows in none of this many histories, it is not tested. */
const HISTORIES_MAX = Number(process.env.APUS_MUTATION_HISTORIES ?? 60);
const SEED = Number(process.env.APUS_FAULT_SEED ?? 1);
const STEPS = 250;
const TIMEOUT_MS = 600_000;

interface Mutation {
  readonly name: string;
  /** Takes the protection away. */
  readonly install: () => void;
}

const MUTATIONS: readonly Mutation[] = [
  {
    name: 'frames wait until what they follow from is durable',
    install: () =>
      vi.spyOn(SimulatedObject.prototype, 'acceptWebSocket').mockImplementation(function (
        this: SimulatedObject,
        socket,
      ) {
        this.sockets.push(socket as SimulatedSocket);
      }),
  },
  {
    name: 'no frame follows a commit that the storage has refused',
    install: () => {
      const { flush } = GatedWriter.prototype;
      vi.spyOn(GatedWriter.prototype, 'flush').mockImplementation(function (this: GatedWriter) {
        try {
          flush.call(this);
        } catch {}
      });
    },
  },
  {
    name: 'a link is saved as often as it changes',
    install: () => {
      const saved = new Set<SimulatedSocket>();
      const { serializeAttachment } = SimulatedSocket.prototype;
      vi.spyOn(SimulatedSocket.prototype, 'serializeAttachment').mockImplementation(function (
        this: SimulatedSocket,
        value,
      ) {
        if (!saved.has(this)) serializeAttachment.call(this, value);
        saved.add(this);
      });
    },
  },
  {
    name: 'a connection that outlives the memory goes on',
    install: () => vi.spyOn(HubLinks.prototype, 'living').mockReturnValue(undefined),
  },
  {
    name: 'a window goes on where it was',
    install: () => vi.spyOn(InflightWindow.prototype, 'goOn').mockImplementation(() => {}),
  },
  {
    name: 'the records of a session that ends with its connection go with the socket',
    install: () => vi.spyOn(Records.prototype, 'passing').mockReturnValue([]),
  },
  {
    name: 'the state of a link that is too large for its socket stands in rows',
    install: () => vi.spyOn(Records.prototype, 'get').mockReturnValue(undefined),
  },
  {
    name: 'half a packet goes with the socket',
    install: () => vi.spyOn(Inbound.prototype, 'unfinished', 'get').mockReturnValue(new Uint8Array()),
  },
  {
    name: 'an event finds what is due when the alarm was lost',
    install: () => vi.spyOn(AlarmClock.prototype, 'runDue').mockImplementation(() => {}),
  },
];

afterEach(() => void vi.restoreAllMocks());

async function violationsOf(seed: number): Promise<readonly string[]> {
  const random = new Random(seed);
  const history = new HubHistory(seed % 2 === 0 ? 600 : undefined);
  await history.play(Array.from({ length: STEPS }, () => Math.floor(random.next() * DRAWS)));
  return history.violations;
}

async function findHistory() {
  for (let seed = SEED; seed < SEED + HISTORIES_MAX; seed += 1) {
    const [violation] = await violationsOf(seed);
    if (violation !== undefined) return { seed, violation };
  }
  return undefined;
}

it.each(MUTATIONS)(
  'a history fails unless $name, and passes then',
  async (mutation) => {
    mutation.install();
    const found = await findHistory();
    vi.restoreAllMocks();
    if (found === undefined) expect.fail(`nothing was found in ${HISTORIES_MAX} histories`);
    process.stdout.write(`${mutation.name}: seed ${found.seed}, ${found.violation}\n`);
    expect(await violationsOf(found.seed)).toEqual([]);
  },
  TIMEOUT_MS,
);
