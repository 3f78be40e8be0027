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

/** What this browser remembers. Nothing of it leaves it. */
class Database extends Dexie {
  declare readonly profiles: EntityTable<StoredProfile, 'id'>;
  declare readonly secrets: EntityTable<StoredSecrets, 'id'>;
  declare readonly drafts: EntityTable<StoredDraft, 'id'>;

  constructor() {
    super('apus');
    this.version(1).stores({ profiles: 'id, position', secrets: 'id', drafts: 'id, [kind+atMs]' });
  }
}

export const database = new Database();
