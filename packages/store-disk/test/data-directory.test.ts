import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createDiskStores, DataDirectoryError } from '@apus/store-disk';
import { describe, expect, it } from 'vitest';
import { Database } from '../src/database.ts';
import { FORMAT_KEY } from '../src/keys.ts';
import { temporaryDirectory } from './support/directory.ts';

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

  it('is refused where a file stands', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    expect(await refusalOf(file)).toContain(`${file} cannot be used: EEXIST`);
  });

  it('is refused where none can be made', async () => {
    expect(await refusalOf('/dev/null/apus')).toContain('/dev/null/apus cannot be used: ENOTDIR');
  });

  it.each(['something else', Buffer.alloc(100_000, 7)])(
    'is refused with a data file that is none',
    async (bytes) => {
      const directory = temporaryDirectory();
      writeFileSync(join(directory, 'apus.mdb'), bytes);
      expect(await refusalOf(directory)).toContain('apus.mdb is not a data file of Apus, or is damaged.');
    },
  );

  it('is refused with a data file that cannot be opened, and free afterwards', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'apus.mdb'));
    expect(await refusalOf(directory)).toContain('apus.mdb cannot be opened');
    expect(await refusalOf(directory)).toContain('apus.mdb cannot be opened');
  });

  it('begins anew with the empty file that a crash in the first moment leaves', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'apus.mdb'), '');
    await (await open(directory)).close();
  });

  it.each([
    ['2', 'written by a newer version of Apus'],
    ['0', 'written by an older version of Apus'],
  ])('is refused in format %s', async (version, reason) => {
    const directory = temporaryDirectory();
    await write(directory, FORMAT_KEY, version);
    const refusal = await refusalOf(directory);
    expect(refusal).toContain(`has format ${version}, and this version reads format 1.`);
    expect(refusal).toContain(reason);
  });

  it('is refused with the data of another program', async () => {
    const directory = temporaryDirectory();
    await write(directory, 'key', 'value');
    await write(directory, FORMAT_KEY, undefined);
    expect(await refusalOf(directory)).toContain('holds something that Apus did not write');
  });
});

async function write(directory: string, key: string, value: string | undefined): Promise<void> {
  const database = await Database.open(directory);
  await database.commit(new Map([[key, value === undefined ? undefined : Buffer.from(value)]]));
  await database.close();
}

/** What kill -9 leaves: the file of a socket at which nobody listens. */
async function leaveDeadSocket(path: string): Promise<void> {
  const { linkSync, rmSync } = await import('node:fs');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.other`, resolve));
  linkSync(`${path}.other`, path);
  await new Promise((resolve) => server.close(resolve));
  rmSync(`${path}.other`, { force: true });
}
