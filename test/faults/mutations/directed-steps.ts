import { type End, STATE_FILTERS, type Step, type StreamTopic, type Topic } from '../steps.ts';

const PUBLISHERS = 3;
const STREAM_READERS = [0, 1, 2, 3];

const repeated = (times: number, make: (index: number) => readonly Step[]): readonly Step[] =>
  Array.from({ length: times }, (_, index) => make(index)).flat();

/** Wills are due five seconds after their connections ended, while faults still strike. */
export const MORTALS: readonly Step[] = repeated(16, (index) => [
  {
    kind: 'mortal',
    atMs: 100 * index,
    qos: index % 2 === 0 ? 1 : 2,
    delaySeconds: 0,
    stayMs: 500,
    how: 'cut',
    returnsAfterMs: undefined,
  },
]);

/** The same clients send DISCONNECT: their wills must not be published. */
export const DISCONNECTS_OF_MORTALS: readonly Step[] = MORTALS.map(
  (step) => ({ ...step, how: 'disconnect' }) as Step,
);

/** Something else closes the WebSocket of the same clients, as after a DISCONNECT: their wills must be published. */
export const CLOSED_MORTALS: readonly Step[] = MORTALS.map(
  (step) => ({ ...step, how: 'closed-with-4001' }) as Step,
);

/** Members of a room, whose sessions end with their connections, send DISCONNECT and do not return while faults strike. */
export const DISCONNECTS_OF_DWELLERS: readonly Step[] = [0, 2].map((dweller) => ({
  kind: 'end-dweller',
  atMs: 2_000 + 500 * dweller,
  dweller,
  how: 'disconnect',
  awayMs: 3_600_000,
}));

/**
 * Subscribers connect while messages are being retained, with a filter shape that every process knows. Each publisher
 * publishes six times a second, and a new subscriber follows a moment after each.
 */
export const NEWCOMERS: readonly Step[] = [
  { kind: 'probe', atMs: 0, filter: 'state/+/a/b', stayMs: 0 },
  ...repeated(60, (index) => [
    { kind: 'publish', atMs: 9_000 + 50 * index, publisher: index % PUBLISHERS, topic: 'state', qos: 1 },
    { kind: 'probe', atMs: 9_020 + 50 * index, filter: 'state/+/a/b', stayMs: 0 },
  ]),
];

/** Subscribers with new filter shapes connect while all publishers are active. */
export const NEW_SHAPES: readonly Step[] = [
  ...repeated(100, (index) => [
    { kind: 'publish', atMs: 60 * index, publisher: index % PUBLISHERS, topic: 'state', qos: 1 },
  ]),
  ...STATE_FILTERS.map(
    (filter, index): Step => ({ kind: 'probe', atMs: 500 + 300 * index, filter, stayMs: 0 }),
  ),
];

/** A client whose identity expires; and messages for it after the expiry must be noticed. */
export const BRIEFS: readonly Step[] = [
  ...repeated(4, (index) => [{ kind: 'brief', atMs: 200 * index, filter: 'news/#' } as const]),
  ...repeated(20, (index) => [
    {
      kind: 'publish',
      atMs: 19_000 + 200 * index,
      publisher: index % PUBLISHERS,
      topic: 'news',
      qos: 1,
    } as const,
  ]),
];

/** A client that is banned; and messages for it after the ban must be known. */
export const OUTLAWS: readonly Step[] = [
  ...repeated(4, (index) => [
    { kind: 'outlaw', atMs: 200 * index, filter: 'news/#', bannedAfterMs: 1_000 } as const,
  ]),
  ...repeated(20, (index) => [
    {
      kind: 'publish',
      atMs: 47_000 + 200 * index,
      publisher: index % PUBLISHERS,
      topic: 'news',
      qos: 1,
    } as const,
  ]),
];

/** Each publisher sends several messages at once, again and again: they come in one frame, and windows are full. */
export const bursts = (options: {
  readonly topic: Topic;
  readonly qos: 0 | 1 | 2;
  readonly messages: number;
  readonly everyMs: number;
  readonly durationMs: number;
}): readonly Step[] => {
  const { topic, qos, messages, everyMs, durationMs } = options;
  return repeated(Math.floor(durationMs / everyMs), (index) =>
    repeated(messages, () => [
      { kind: 'publish', atMs: index * everyMs, publisher: index % PUBLISHERS, topic, qos },
    ]),
  );
};

/** All publishers at once, again and again. */
export const volleys = (options: {
  readonly messages: number;
  readonly everyMs: number;
  readonly durationMs: number;
  /** @default 1 */
  readonly qos?: 1 | 2;
}): readonly Step[] => {
  const { messages, everyMs, durationMs, qos = 1 } = options;
  return repeated(Math.floor(durationMs / everyMs), (index) =>
    repeated(PUBLISHERS * messages, (message) => [
      {
        kind: 'publish',
        atMs: index * everyMs,
        publisher: message % PUBLISHERS,
        topic: 'news',
        qos,
      },
    ]),
  );
};

/** Subscribers lose their connections, and return soon. */
export const returns = (
  everyMs: number,
  durationMs: number,
  hows: readonly End[] = ['cut', 'vanish'],
): readonly Step[] =>
  repeated(Math.floor(durationMs / everyMs), (index) => [
    {
      kind: 'end',
      atMs: (index + 1) * everyMs,
      client: PUBLISHERS + (index % 4),
      how: hows[index % hows.length] ?? 'cut',
      awayMs: 100,
    },
  ]);

/** Publishers lose their connections while a function handles their frame, return soon, and continue with the topic. */
export const losses = (everyMs: number, durationMs: number): readonly Step[] =>
  repeated(Math.floor(durationMs / everyMs), (index) => {
    const [atMs, publisher] = [index * everyMs, index % PUBLISHERS];
    const publication = { kind: 'publish', publisher, topic: 'news', qos: index % 2 === 0 ? 2 : 1 } as const;
    return [
      { ...publication, atMs },
      { kind: 'end', atMs: atMs + 30, client: publisher, how: 'cut', awayMs: 10 },
      { ...publication, atMs: atMs + 60 },
    ];
  });

/** Idle environments end. */
export const colds = (everyMs: number, durationMs: number): readonly Step[] =>
  repeated(Math.floor(durationMs / everyMs), (index) => [{ kind: 'cold', atMs: (index + 1) * everyMs }]);

/** All publishers append to one topic of a stream, one after the other. */
export const appends = (options: {
  readonly topic: StreamTopic;
  readonly everyMs: number;
  readonly durationMs: number;
}): readonly Step[] => {
  const { topic, everyMs, durationMs } = options;
  return repeated(Math.floor(durationMs / everyMs), (index) => [
    { kind: 'append', atMs: index * everyMs, publisher: index % PUBLISHERS, topic, qos: 1 },
  ]);
};

/** Readers of streams lose their connections, and return soon. */
export const readerReturns = (
  everyMs: number,
  durationMs: number,
  readers: readonly number[] = STREAM_READERS,
): readonly Step[] =>
  repeated(Math.floor(durationMs / everyMs), (index) => [
    {
      kind: 'end-reader',
      atMs: (index + 1) * everyMs,
      reader: readers[index % readers.length] ?? 0,
      how: 'cut',
    },
  ]);

/** Clients that read the whole history of a topic. */
export const newcomers = (options: {
  readonly topic: StreamTopic;
  readonly everyMs: number;
  readonly durationMs: number;
}): readonly Step[] => {
  const { topic, everyMs, durationMs } = options;
  return repeated(Math.floor(durationMs / everyMs), (index) => [
    { kind: 'newcomer', atMs: (index + 1) * everyMs, topic, rewind: undefined },
  ]);
};

export const inOrder = (...parts: readonly (readonly Step[])[]): readonly Step[] =>
  parts.flat().sort((one, other) => one.atMs - other.atMs);
