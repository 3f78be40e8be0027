import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { upTo } from '@apus/broker/samples';
import { createDiskStores, DataDirectoryError } from '@apus/store-disk';
import { describe, expect, it } from 'vitest';
import { Database } from '../src/database.ts';
import { DirectoryLock, removeDead } from '../src/directory-lock.ts';
import { DiskError } from '../src/errors.ts';
import { FORMAT_KEY } from '../src/keys.ts';
import { TABLE_BYTES_MAX } from '../src/limits.ts';
import { temporaryDirectory } from './support/directory.ts';
import { messageOf } from './support/values.ts';

const clock = { now: () => 0 };
const open = (directory: string) => createDiskStores({ directory, clock });

async function refusalOf(directory: string): Promise<string> {
  const error = await open(directory).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DataDirectoryError);
  return (error as DataDirectoryError).message;
}

describe('a data directory', () => {
  it('is made where there is none, and is empty', async () => {
    const stores = await open(join(temporaryDirectory(), 'one', 'two'));
    expect(stores.dueTimers).toEqual([]);
    expect(stores.lastMessageId).toBeUndefined();
    await stores.close();
  });

  it('is closed to other users of the machine, with its files, where it was open to them [SEC-DISK-1]', async () => {
    const directory = temporaryDirectory();
    await (await open(directory)).close();
    const paths = [directory, ...readdirSync(directory).map((name) => join(directory, name))];
    for (const path of paths) chmodSync(path, 0o757);
    await (await open(directory)).close();
    expect(paths.length).toBeGreaterThan(2);
    for (const path of paths) expect(statSync(path).mode & 0o777).toBe(0o750);
  });

  it('may have a name of any length, and with a dot', async () => {
    const directory = join(temporaryDirectory(), 'v1.0', 'long'.repeat(40));
    await (await open(directory)).close();
    await (await open(directory)).close();
  });

  it('is for one at a time', async () => {
    const directory = temporaryDirectory();
    const stores = await open(directory);
    expect(await refusalOf(directory)).toBe(
      `${directory} is in use by another process. Stop that one, or use another directory.`,
    );
    await stores.close();
    await (await open(directory)).close();
  });

  it('is free again when its process has died', async () => {
    const directory = temporaryDirectory();
    await (await open(directory)).close();
    await leaveDeadSocket(join(directory, 'apus.lock'));
    await (await open(directory)).close();
  });

  it('is refused where there is a file of its name', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    expect(await refusalOf(file)).toContain(`${file} cannot be used: EEXIST`);
  });

  it('is refused where it cannot be made', async () => {
    expect(await refusalOf('/dev/null/apus')).toContain('/dev/null/apus cannot be used: ENOTDIR');
  });

  it.each(['something else', Buffer.alloc(100_000, 7)])(
    'is refused if its data file is something else',
    async (bytes) => {
      const directory = temporaryDirectory();
      writeFileSync(join(directory, 'apus.mdb'), bytes);
      expect(await refusalOf(directory)).toContain('apus.mdb is not a data file of Apus, or is damaged: ');
    },
  );

  it('is refused with a data file that cannot be opened, and free afterwards', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'apus.mdb'));
    expect(await refusalOf(directory)).toContain('apus.mdb cannot be opened');
    expect(await refusalOf(directory)).toContain('apus.mdb cannot be opened');
  });

  it('is refused where LMDB cannot make its table, and free afterwards', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'apus.mdb-lock'));
    expect(await refusalOf(directory)).toContain('apus.mdb-lock cannot be opened: EISDIR');
    expect(await refusalOf(directory)).toContain('apus.mdb-lock cannot be opened: EISDIR');
  });

  it('is refused with something else in the place of that table', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'apus.mdb-lock'), Buffer.alloc(TABLE_BYTES_MAX + 1));
    expect(await refusalOf(directory)).toContain('apus.mdb-lock is not the table of LMDB. Remove it,');
  });

  it('begins anew with the empty file that a crash in the first moment leaves', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'apus.mdb'), '');
    await (await open(directory)).close();
  });

  it.each([
    ['3', 'written by a newer version of Apus'],
    ['1', 'written by an older version of Apus'],
  ])('is refused in format %s', async (version, reason) => {
    const directory = temporaryDirectory();
    await write(directory, FORMAT_KEY, version);
    const refusal = await refusalOf(directory);
    expect(refusal).toContain(`has format ${version}, and this version reads format 2.`);
    expect(refusal).toContain(reason);
  });

  it('is refused with the data of another program', async () => {
    const directory = temporaryDirectory();
    await write(directory, 'key', 'value');
    await write(directory, FORMAT_KEY, undefined);
    expect(await refusalOf(directory)).toContain('holds something that Apus did not write');
  });
});

describe('two processes that find a dead one at the same time', () => {
  const LOCK = 'apus.lock';

  it('the second process to remove it leaves the first alone, which has taken the name since', async () => {
    const directory = temporaryDirectory();
    await leaveDeadSocket(join(directory, LOCK));
    // The second process got no answer; now the first one finishes.
    const first = await DirectoryLock.acquire(directory);
    expect(await removeDead(join(directory, LOCK))).toBe(false);
    expect(readdirSync(directory)).toEqual([LOCK]);
    expect(await isAnswered(join(directory, LOCK))).toBe(true);
    expect(await refusalOf(directory)).toContain('is in use by another process');
    await first.release();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('the second to remove it is refused while the first has moved it away', async () => {
    const directory = temporaryDirectory();
    await leaveDeadSocket(join(directory, LOCK));
    const [first, second] = await Promise.all([
      removeDead(join(directory, LOCK)),
      removeDead(join(directory, LOCK)),
    ]);
    expect([first, second]).toEqual([true, false]);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('of two that both have the lock the later one has the file, and the other writes nothing any more', async () => {
    const directory = temporaryDirectory();
    const first = await Database.open(directory);
    await first.commit(new Map([['t1', Buffer.from('kept')]]));
    const second = await Database.open(directory);
    await expect(first.commit(new Map([['t2', Buffer.from('lost')]]))).rejects.toThrow(DiskError);
    await expect(first.commit(new Map([['t1', undefined]]))).rejects.toThrow('taken over');
    await second.commit(new Map([['t3', Buffer.from('kept')]]));
    expect([...second.scan('t')].map(([key]) => key)).toEqual(['t1', 't3']);
    await Promise.all([first.close(), second.close()]);
  });

  it('of twenty that have the lock one after another only the last writes, however late the others wake', async () => {
    const directory = temporaryDirectory();
    const earlier: Database[] = [];
    for (let count = 1; count < 20; count += 1) earlier.push(await Database.open(directory));
    const last = await Database.open(directory);
    for (const late of earlier)
      await expect(late.commit(new Map([['t1', Buffer.from('lost')]]))).rejects.toThrow('taken over');
    await last.commit(new Map([['t3', Buffer.from('kept')]]));
    expect([...last.scan('t')].map(([key]) => key)).toEqual(['t3']);
    for (const database of [...earlier, last]) await database.close();
  });

  it('of two that open a file at once one is refused', async () => {
    const directory = temporaryDirectory();
    const opened = await Promise.allSettled([Database.open(directory), Database.open(directory)]);
    const [open] = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const refused = opened.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
    expect(refused).toEqual([expect.stringContaining('apus.mdb is being opened by another process.')]);
    await open?.commit(new Map([['t1', Buffer.from('kept')]]));
    await open?.close();
  });

  it('the broker that has lost the file fails for good, and says why', async () => {
    const directory = temporaryDirectory();
    const failures: Error[] = [];
    const onFailure = (error: Error) => void failures.push(error);
    const stores = await createDiskStores({ directory, clock, onFailure });
    const other = await Database.open(directory);
    await expect(stores.retained.put('t', messageOf(1), upTo(10))).rejects.toThrow(
      /Another process has taken over .*apus\.mdb/,
    );
    expect(failures.map(({ name }) => name)).toEqual(['DiskError']);
    expect(() => stores.retained.put('t', messageOf(2), upTo(10))).toThrow('taken over');
    expect([...other.scan('t')]).toEqual([]);
    await Promise.all([stores.close(), other.close()]);
  });
});

async function write(directory: string, key: string, value: string | undefined): Promise<void> {
  const database = await Database.open(directory);
  await database.commit(new Map([[key, value === undefined ? undefined : Buffer.from(value)]]));
  await database.close();
}

/** Leaves the file of a socket without a listener, as kill -9 does. */
async function leaveDeadSocket(path: string): Promise<void> {
  const { linkSync, rmSync } = await import('node:fs');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.other`, resolve));
  linkSync(`${path}.other`, path);
  await new Promise((resolve) => server.close(resolve));
  rmSync(`${path}.other`, { force: true });
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
