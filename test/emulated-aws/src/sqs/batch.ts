import { emptyBatch, entryIdsNotDistinct, invalidEntryId, SqsError, tooManyEntries } from './errors.ts';
import { type Input, objects, requiredText } from './input.ts';
import type { SqsLimits } from './limits.ts';

export interface Entry {
  readonly id: string;
  readonly input: Input;
}

interface FailedEntry {
  readonly Id: string;
  readonly SenderFault: boolean;
  readonly Code: string;
  readonly Message: string;
}

export interface BatchResult {
  readonly Successful: readonly object[];
  readonly Failed: readonly FailedEntry[];
}

const ENTRY_ID = /^[A-Za-z0-9_-]+$/;

/** The entries of a batch. An error of the batch as a whole fails the request. */
export function readEntries(input: Input, entryType: string, limits: SqsLimits): Entry[] {
  const entries = objects(input, 'Entries').map((entry) => ({ id: requiredText(entry, 'Id'), input: entry }));
  const { batchEntriesMax, entryIdCharactersMax } = limits;
  if (entries.length === 0) throw emptyBatch(entryType);
  if (entries.length > batchEntriesMax) throw tooManyEntries(batchEntriesMax, entries.length);
  const ids = new Set<string>();
  for (const { id } of entries) {
    if (!ENTRY_ID.test(id) || id.length > entryIdCharactersMax) throw invalidEntryId();
    if (ids.has(id)) throw entryIdsNotDistinct(id);
    ids.add(id);
  }
  return entries;
}

/** Handles each entry separately: some may fail while others take effect, and the answer is 200 all the same. */
export function runEntries(entries: readonly Entry[], run: (entry: Entry) => object): BatchResult {
  const Successful: object[] = [];
  const Failed: FailedEntry[] = [];
  for (const entry of entries) {
    try {
      Successful.push({ Id: entry.id, ...run(entry) });
    } catch (error) {
      if (!(error instanceof SqsError)) throw error;
      Failed.push(failedEntry(entry, error));
    }
  }
  return { Successful, Failed };
}

function failedEntry({ id }: Entry, error: SqsError): FailedEntry {
  return { Id: id, SenderFault: error.senderFault, Code: error.code, Message: error.message };
}
