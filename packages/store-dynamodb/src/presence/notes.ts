import type { Message, PresencePlace, ToldMember } from '@apus/broker';
import { PRESENCE_LANES, PRESENCE_NOTE_SECONDS } from '../limits.ts';
import { batchGet } from '../table/batch.ts';
import {
  type Key,
  PRESENCE_NOTES,
  presenceMemberKey,
  presenceNoteKey,
  presenceRoomKey,
} from '../table/keys.ts';
import { decodeMessage, encodeMessage } from '../table/message-blob.ts';
import { endOf, type Table } from '../table/table.ts';
import { bytes, bytesOf, type Item, number, text, textOf, VERSION } from '../table/values.ts';
import { isSameData, memberOf } from './member.ts';

/*
 * A note: a member of a large room has changed since the last tick. `b` the message that watchers were told before the
 * first of these changes (empty: none), `k` the member's name, `n` the nonce of the last change, `f` that it is told
 * in any case, since it is unknown what watchers were told.
 */

const NONE = new Uint8Array();

export interface Notes {
  readonly members: readonly ToldMember[];
  readonly hasMore: boolean;
  readonly markTold: () => Promise<void>;
}

export async function noteMember(
  table: Table,
  place: PresencePlace,
  { message, before }: ToldMember,
): Promise<void> {
  const isUnknown = message === undefined && before === undefined;
  const forced = isUnknown ? ', f = :one' : '';
  await table.update(
    presenceNoteKey(place),
    `SET v = :v, t = :t, n = :n, k = :k, b = if_not_exists(b, :b)${forced}`,
    {
      values: {
        ':v': number(VERSION),
        ':t': number(table.nowSeconds() + PRESENCE_NOTE_SECONDS),
        ':n': text(table.settings.randomId()),
        ':k': text(place.member),
        ':b': bytes(before === undefined ? NONE : encodeMessage(before)),
        ...(isUnknown && { ':one': number(1) }),
      },
    },
  );
}

/**
 * The changes that watchers have to be told. When they have been told, a note is deleted, if it has not changed since:
 * a member that has changed again waits for the next tick.
 */
export async function readNotes(
  table: Table,
  tenant: string,
  room: string,
  countMax: number,
  topicOf: (member: string) => string,
): Promise<Notes> {
  const { p } = presenceRoomKey(tenant, room);
  const range = { p, from: PRESENCE_NOTES, to: endOf(PRESENCE_NOTES), limit: countMax + 1 };
  const { items, next } = await table.query(range);
  const notes = items.slice(0, countMax);
  const keyOf = (note: Item) => presenceMemberKey({ tenant, room, member: nameIn(note) });
  const found = await batchGet(table, notes.map(keyOf));
  const members = notes.flatMap((note): ToldMember[] => {
    const message = memberOf(found.get(keyOf(note)))?.message;
    const before = decodeMessage(bytesOf(note, 'b') ?? NONE);
    if (note.f === undefined && isKnown(message, before)) return [];
    return [{ topic: topicOf(nameIn(note)), message, before }];
  });
  const hasMore = items.length > countMax || next !== undefined;
  return { members, hasMore, markTold: () => forget(table, p, notes) };
}

function isKnown(message: Message | undefined, before: Message | undefined): boolean {
  if (message === undefined || before === undefined) return message === before;
  return isSameData(message, before);
}

function nameIn(note: Item): string {
  return textOf(note, 'k') ?? '';
}

async function forget(table: Table, p: string, notes: readonly Item[]): Promise<void> {
  const waiting = notes.values();
  const lane = async () => {
    for (const note of waiting) {
      const key: Key = { p, s: textOf(note, 's') ?? '' };
      await table.delete(key, { condition: 'n = :n', values: { ':n': text(textOf(note, 'n') ?? '') } });
    }
  };
  await Promise.all(Array.from({ length: PRESENCE_LANES }, lane));
}
