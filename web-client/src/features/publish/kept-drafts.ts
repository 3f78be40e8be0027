import { membersOf } from '../../engine/read-members.ts';
import { type Draft, type DraftProperties, EMPTY_DRAFT, NO_PROPERTIES } from '../../state/draft.ts';
import { readStored, writeStored } from '../../state/stored.ts';

const KEY = 'apus.drafts';

/**
 * Drafts that are stored, the newest; and the largest size of each, since a browser gives a page some five million
 * characters.
 */
const DRAFTS_MAX = 20;
const PAYLOAD_CHARACTERS_MAX = 65_536;

export type Drafts = Readonly<Record<string, Draft>>;

/** The drafts in the panels at the last visit. */
export function keptDrafts(): Drafts {
  return readDrafts(readStored(KEY));
}

/** A draft that is too large is left out. */
export function keepDrafts(drafts: Drafts): void {
  const kept = Object.entries(drafts)
    .filter(([, { payload }]) => payload.length <= PAYLOAD_CHARACTERS_MAX)
    .slice(-DRAFTS_MAX);
  writeStored(KEY, Object.fromEntries(kept));
}

/** @param read perhaps from another version of the page: invalid entries are omitted, missing fields are empty */
export function readDrafts(read: unknown): Drafts {
  const drafts: Record<string, Draft> = {};
  for (const [id, value] of Object.entries(membersOf(read) ?? {})) {
    const { topic, payload, format, qos, retain, properties } = membersOf(value) ?? {};
    if (typeof topic !== 'string' || typeof payload !== 'string') continue;
    drafts[id] = {
      ...EMPTY_DRAFT,
      topic,
      payload,
      format: format === 'text' || format === 'hex' || format === 'base64' ? format : 'json',
      qos: qos === 1 || qos === 2 ? qos : 0,
      retain: retain === true,
      properties: propertiesOf(properties),
    };
  }
  return drafts;
}

function propertiesOf(read: unknown): DraftProperties {
  const properties = { ...NO_PROPERTIES, ...(membersOf(read) as Partial<DraftProperties> | undefined) };
  return Array.isArray(properties.userProperties) ? properties : NO_PROPERTIES;
}
