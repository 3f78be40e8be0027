import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { CallerMutation, Configuration, Core } from './world.ts';

/** A piece of the record's code, and what stands in its place. */
export interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A protection that is taken away, and where the exploration finds that it is missing. */
export interface Mutation {
  readonly name: string;
  /** In the text of the record's code, or by a caller. */
  readonly edit?: Edit;
  readonly caller?: CallerMutation;
  readonly finds: RegExp;
  readonly config: Partial<Configuration>;
  /** To find it takes as long as ten of the others: in CI. */
  readonly isForCi?: true;
}

const OFFER = 'offer-copies.ts';
const DEQUEUE = 'dequeue-page.ts';
const RECORD = 'decide.ts';
const ENTRIES = 'entries.ts';
const COMPLETED = 'completed.ts';

const RECEIVE_MAXIMUM = /Receive Maximum/;
const ORDER = /before an older one/;
const WAITS = /no process looks/;
const TWICE = /came twice/;
const PACKET_ID = /packet id/;
const STUCK = /nothing leads to the end/;

const OFFLINE = { publishers: ['1|1', ''], reconnects: 1 } as const;
const FORGETS = { publishers: ['2', ''], crashes: 1, namesKept: 0 } as const;
const JOB_TWICE = {
  publishers: ['', ''],
  worker: '2',
  earlyRedeliveries: 1,
  crashes: 1,
  reconnects: 1,
} as const;
const TWO = { publishers: ['1', '1'] } as const;
const TWO_OF_ONE = { publishers: ['1|1', '1'] } as const;

export const MUTATIONS: readonly Mutation[] = [
  { name: 'writes without the version', caller: 'no-version', finds: PACKET_ID, config: TWO },
  {
    name: 'a take beyond the Receive Maximum',
    edit: { file: OFFER, from: 'record.receiveMaximum - placesTaken(record)', to: 'copies.length' },
    finds: RECEIVE_MAXIMUM,
    config: TWO,
  },
  {
    name: 'a page beyond the Receive Maximum',
    edit: {
      file: DEQUEUE,
      from: 'return placesTaken(this.record) >= this.record.receiveMaximum',
      to: 'return false',
    },
    finds: RECEIVE_MAXIMUM,
    config: TWO_OF_ONE,
  },
  {
    name: 'the log is empty, so direct',
    edit: { file: DEQUEUE, from: "mode: 'closing', isFetching", to: "mode: 'direct', isFetching" },
    finds: WAITS,
    config: TWO_OF_ONE,
  },
  {
    name: 'direct again without a look at the log',
    isForCi: true,
    edit: {
      file: OFFER,
      from: 'record.awaits === 0 && log.every((name) => dequeued.has(name))',
      to: 'record.awaits === 0 && dequeued.size >= 0',
    },
    finds: ORDER,
    config: { publishers: ['1|1|1', ''], reconnects: 1 },
  },
  {
    name: 'direct again before the page has arrived',
    edit: { file: OFFER, from: 'record.awaits === 0 && ', to: '' },
    finds: ORDER,
    config: { ...TWO_OF_ONE, receiveMaximum: 2 },
  },
  {
    name: 'a frame closes without the second look',
    edit: { file: RECORD, from: "effects: [...effects, { type: 'look-again' }]", to: 'effects' },
    finds: WAITS,
    config: TWO_OF_ONE,
  },
  {
    name: 'a publisher does not object to closing',
    edit: {
      file: RECORD,
      from: "if (mode !== 'backlog') return",
      to: "if (mode === 'closing') return { record, effects: [] };\n  if (mode === 'direct') return",
    },
    finds: WAITS,
    config: TWO_OF_ONE,
  },
  {
    name: 'only the publisher that objected nudges',
    edit: { file: RECORD, from: "isFetching ? [] : [{ type: 'nudge', connectionId }]", to: '[]' },
    finds: WAITS,
    config: { ...TWO, crashes: 1 },
  },
  {
    name: 'a page overtakes what a publisher is about to post',
    edit: {
      file: DEQUEUE,
      from: 'return nowMs < untilMs && ',
      to: 'return nowMs < 0 && nowMs < untilMs && ',
    },
    finds: ORDER,
    config: { ...TWO_OF_ONE, receiveMaximum: 2 },
  },
  {
    name: 'CONNECT does not send again',
    edit: {
      file: RECORD,
      from: 'record.entries.map(toBeSentAgain)',
      to: 'record.entries.filter(toBeSentAgain)',
    },
    finds: WAITS,
    config: OFFLINE,
  },
  {
    name: 'CONNECT sends again under another packet id',
    edit: {
      file: DEQUEUE,
      from: "{ ...entry, kind: 'page', phase: 'sent', isCounted: true }",
      to: "{ ...entry, packetId: entry.packetId + 8, kind: 'page', phase: 'sent', isCounted: true }",
    },
    finds: TWICE,
    config: { publishers: ['2', ''], reconnects: 1 },
  },
  {
    name: 'no fence against a late CONNECT',
    edit: { file: RECORD, from: "if (record.epoch >= epoch) return refused(record, 'fence');", to: '' },
    finds: WAITS,
    config: { publishers: ['1', ''], reconnects: 2 },
  },
  {
    name: 'acknowledgements of another connection',
    edit: {
      file: RECORD,
      from: "if (record.connectionId !== connectionId) return refused(record, 'another-connection');\n  if (dequeue === undefined)",
      to: 'if (connectionId !== undefined && dequeue === undefined)',
    },
    finds: RECEIVE_MAXIMUM,
    config: OFFLINE,
  },
  {
    name: 'an acknowledgement is noted although the record has another connection',
    caller: 'note-on-any-connection',
    finds: RECEIVE_MAXIMUM,
    config: OFFLINE,
  },
  {
    name: "an entry that a publisher took hides the log's copy",
    edit: { file: ENTRIES, from: "entries.filter(({ body }) => body === 'log')", to: 'entries' },
    finds: STUCK,
    config: { publishers: ['', ''], worker: '1', earlyRedeliveries: 1, crashes: 1, connections: 1 },
  },
  {
    name: 'a repetition takes a copy for placed that may never have been posted',
    edit: { file: OFFER, from: "? 'uncertain' : 'placed'", to: "? 'placed' : 'placed'" },
    finds: WAITS,
    config: { publishers: ['2', ''], crashes: 1 },
  },
  {
    name: 'a repetition posts again under the same packet id',
    caller: 'post-again-when-repeated',
    finds: PACKET_ID,
    config: { publishers: ['2', ''], crashes: 1 },
  },
  {
    name: 'a worker posts again under the same packet id',
    caller: 'post-again-when-repeated',
    finds: PACKET_ID,
    config: { publishers: ['', ''], worker: '1', earlyRedeliveries: 1 },
  },
  {
    name: 'a post of unknown fate is repeated',
    caller: 'post-again-when-unknown',
    finds: PACKET_ID,
    config: { publishers: ['1', ''], postsOfUnknownFate: 1 },
  },
  {
    name: 'no deduplication of a QoS 2 copy for a share group',
    caller: 'no-deduplication',
    finds: TWICE,
    config: { publishers: ['2', ''], crashes: 1, isShared: true },
  },
  {
    name: 'the record does not note the copies whose exchange is complete',
    edit: { file: COMPLETED, from: '[...record.completed, entry.name]', to: 'record.completed' },
    finds: TWICE,
    config: { publishers: ['2', ''], crashes: 1 },
  },
  {
    name: 'what the record forgets is not written',
    caller: 'forgotten-unwritten',
    finds: TWICE,
    config: FORGETS,
  },
  {
    name: 'what the record has forgotten is not read',
    caller: 'forgotten-unread',
    finds: TWICE,
    config: FORGETS,
  },
  {
    name: 'a page sends a repetition of what was placed before',
    isForCi: true,
    edit: { file: DEQUEUE, from: 'qos === 2 && isPlaced', to: 'qos < 2 && isPlaced' },
    finds: TWICE,
    config: JOB_TWICE,
  },
  {
    name: 'a worker drops its copy for one that may never have been posted',
    isForCi: true,
    edit: { file: RECORD, from: 'isUncertain(entry) && names', to: 'entry.packetId === 0 && names' },
    finds: WAITS,
    config: JOB_TWICE,
  },
  {
    name: 'the record is written before the log is deleted',
    caller: 'delete-late',
    finds: TWICE,
    config: { publishers: ['2|2', ''], crashes: 1, isShared: true },
  },
  {
    name: 'a publisher looks before it appends',
    caller: 'look-before-appending',
    finds: ORDER,
    config: TWO_OF_ONE,
  },
  {
    name: 'a publisher appends before it posts what it has taken',
    isForCi: true,
    caller: 'append-before-post',
    finds: ORDER,
    config: { publishers: ['11', '1'], receiveMaximum: 2, crashes: 1 },
  },
  {
    name: 'a frame out of turn dequeues',
    caller: 'dequeue-out-of-turn',
    finds: ORDER,
    config: { ...TWO_OF_ONE, receiveMaximum: 2 },
  },
  {
    name: "the loss of any connection is that of the session's",
    edit: {
      file: RECORD,
      from: 'if (record.connectionId !== connectionId) return { record, effects: [] };',
      to: 'if (connectionId === undefined) return { record, effects: [] };',
    },
    finds: WAITS,
    config: OFFLINE,
  },
  {
    name: 'a message that is taken overtakes an older one in the log',
    edit: { file: OFFER, from: 'isOneInLog ? 0 : countThatFits', to: 'countThatFits' },
    finds: ORDER,
    config: { publishers: ['22', '1'], receiveMaximum: 2, crashes: 1, isShared: true },
  },
  {
    name: 'a move that rewinds, as CONNECT does',
    ...{ caller: 'move-rewinds', finds: /second PUBLISH/, config: { publishers: ['1', ''], moves: 1 } },
  },
  {
    name: 'a post that does not follow a move',
    ...{
      caller: 'move-without-following',
      finds: WAITS,
      config: { publishers: ['1', ''], moves: 1 },
    },
  },
  {
    name: 'a client that does not hold what the second connection brings',
    ...{
      caller: 'move-without-hold',
      finds: ORDER,
      config: { publishers: ['1|1', ''], receiveMaximum: 2, moves: 1 },
    },
  },
];

const ENTRY_POINT = fileURLToPath(new URL('../../src/queue/decide.ts', import.meta.url));

/** The record's code with one piece of its text replaced. */
export async function coreWith({ file, from, to }: Edit): Promise<Core> {
  let found = 0;
  const { outputFiles } = await build({
    entryPoints: [ENTRY_POINT],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    conditions: ['source'],
    plugins: [
      {
        name: 'edit',
        setup: ({ onLoad }) => {
          onLoad({ filter: /src\/queue\/[^/]*\.ts$/ }, async ({ path }) => {
            const text = await readFile(path, 'utf8');
            if (basename(path) !== file) return { contents: text, loader: 'ts' };
            found = text.split(from).length - 1;
            return { contents: text.replace(from, () => to), loader: 'ts' };
          });
        },
      },
    ],
  });
  if (found !== 1) throw new Error(`${file} holds the text ${found} times: ${from}`);
  const [output] = outputFiles;
  const url = `data:text/javascript;base64,${Buffer.from(output?.contents ?? '').toString('base64')}`;
  return (await import(url)) as Core;
}
