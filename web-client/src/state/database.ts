import { Dexie, type EntityTable } from 'dexie';
import type { ConnectionProfile, Secrets } from '../engine/types.ts';
import type { Draft } from './draft.ts';

export interface StoredProfile {
  readonly id: string;
  /** Its place in the navigation. */
  readonly position: number;
  readonly profile: ConnectionProfile;
}

export interface StoredSecrets {
  readonly id: string;
  readonly secrets: Secrets;
}

/** A message that was published, or one that is kept under a name. */
export interface StoredDraft {
  readonly id: string;
  /** Of a template; '' in the history. */
  readonly name: string;
  readonly kind: 'history' | 'template';
  readonly atMs: number;
  readonly draft: Draft;
}

/** How the payloads of a topic filter are decoded. */
export interface StoredDecoder {
  readonly id: string;
  /** When it was made: the older one is asked first. */
  readonly atMs: number;
  readonly filter: string;
  readonly kind: string;
  readonly schemas: readonly { readonly name: string; readonly text: string }[];
  readonly messageType: string;
}

/** What this browser remembers. Nothing of it leaves it. */
class Database extends Dexie {
  declare readonly profiles: EntityTable<StoredProfile, 'id'>;
  declare readonly secrets: EntityTable<StoredSecrets, 'id'>;
  declare readonly drafts: EntityTable<StoredDraft, 'id'>;
  declare readonly decoders: EntityTable<StoredDecoder, 'id'>;

  constructor() {
    super('apus');
    this.version(1).stores({ profiles: 'id, position', secrets: 'id', drafts: 'id, [kind+atMs]' });
    this.version(2).stores({ decoders: 'id, atMs' });
  }
}

export const database = new Database();
