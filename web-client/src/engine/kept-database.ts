import type { KeptRecord, KeptStore } from './host/kept-store.ts';

const NAME = 'apus-kept';
const RECORDS = 'records';

/** Increased when the shape of a batch changes: data of an older page are deleted. */
const VERSION = 1;

/**
 * How long a tab waits for the tab that stores the messages of a connection: after a reload that one has just ended.
 */
const CLAIM_MS_MAX = 500;

/** Kept messages in IndexedDB. */
export class KeptDatabase implements KeptStore {
  readonly #claimed = new Set<string>();
  #opened: Promise<IDBDatabase> | undefined;

  async claim(id: string): Promise<boolean> {
    // Pages without TLS have no Web Locks.
    if (this.#claimed.has(id) || navigator.locks === undefined) return true;
    const isOurs = await new Promise<boolean>((resolve) => {
      const hold = (): Promise<never> => {
        resolve(true);
        // Until the tab is closed.
        return new Promise(() => {});
      };
      const signal = AbortSignal.timeout(CLAIM_MS_MAX);
      navigator.locks.request(`${NAME} ${id}`, { signal }, hold).catch(() => resolve(false));
    });
    if (isOurs) this.#claimed.add(id);
    return isOurs;
  }

  async read(id: string): Promise<readonly KeptRecord[]> {
    const database = await this.#open();
    return await answerOf(database.transaction(RECORDS).objectStore(RECORDS).getAll(recordsOf(id)));
  }

  async write(record: KeptRecord, removed: readonly number[]): Promise<void> {
    await this.#change((records) => {
      records.put(record);
      for (const number of removed) records.delete([record.id, number]);
    });
  }

  async forget(id: string): Promise<void> {
    await this.#change((records) => void records.delete(recordsOf(id)));
  }

  async #change(change: (records: IDBObjectStore) => void): Promise<void> {
    const database = await this.#open();
    const transaction = database.transaction(RECORDS, 'readwrite');
    change(transaction.objectStore(RECORDS));
    await new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
  }

  #open(): Promise<IDBDatabase> {
    this.#opened ??= openDatabase(() => {
      // The browser refuses to open an older shape, and the page reports that.
      this.#opened = undefined;
    });
    return this.#opened;
  }
}

/** @param closed called when the database is closed for a newer page */
async function openDatabase(closed: () => void): Promise<IDBDatabase> {
  const request = indexedDB.open(NAME, VERSION);
  request.onupgradeneeded = () => {
    const { result: database } = request;
    for (const name of database.objectStoreNames) database.deleteObjectStore(name);
    database.createObjectStore(RECORDS, { keyPath: ['id', 'number'] });
  };
  const database = await answerOf(request);
  // A newer page in another tab changes the shape.
  database.onversionchange = () => {
    database.close();
    closed();
  };
  return database;
}

/** All records of a connection: an array sorts after every number. */
function recordsOf(id: string): IDBKeyRange {
  return IDBKeyRange.bound([id], [id, []]);
}

function answerOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
