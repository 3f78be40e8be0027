import { type DBSchema, type IDBPDatabase, type IDBPObjectStore, openDB } from 'idb';
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

/** A message that was published. */
export interface StoredDraft {
  readonly id: string;
  readonly kind: 'history';
  readonly atMs: number;
  readonly draft: Draft;
}

/** How the payloads of a topic filter are decoded. */
export interface StoredDecoder {
  readonly id: string;
  /** When it was made: the older one is asked first. */
  readonly atMs: number;
  readonly filter: string;
  readonly schemas: readonly { readonly name: string; readonly text: string }[];
  readonly messageType: string;
}

interface Schema extends DBSchema {
  profiles: { key: string; value: StoredProfile; indexes: { position: number } };
  secrets: { key: string; value: StoredSecrets };
  drafts: { key: string; value: StoredDraft; indexes: { '[kind+atMs]': [string, number] } };
  decoders: { key: string; value: StoredDecoder; indexes: { atMs: number } };
}

export type StoreToChange<Name extends 'drafts'> = IDBPObjectStore<Schema, [Name], Name, 'readwrite'>;

/** Versions of the shape. */
const FIRST = 10;
const WITH_DECODERS = 20;

let opened: Promise<IDBPDatabase<Schema>> | undefined;

/** The data that this browser stores. None of it leaves the browser. */
export function database(): Promise<IDBPDatabase<Schema>> {
  opened ??= openDB<Schema>('apus', WITH_DECODERS, {
    upgrade(upgraded, version) {
      const key = { keyPath: 'id' };
      if (version < FIRST) {
        upgraded.createObjectStore('profiles', key).createIndex('position', 'position');
        upgraded.createObjectStore('secrets', key);
        upgraded.createObjectStore('drafts', key).createIndex('[kind+atMs]', ['kind', 'atMs']);
      }
      if (version < WITH_DECODERS) upgraded.createObjectStore('decoders', key).createIndex('atMs', 'atMs');
    },
    // A newer page in another tab changes the shape.
    blocking: (_version, _newer, { target }) => {
      (target as IDBDatabase).close();
      // The browser refuses to open an older shape, and the page reports that.
      opened = undefined;
    },
  });
  return opened;
}
