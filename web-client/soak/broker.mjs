// The broker with the built web client, as `npm start` runs it.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Builds into a folder of its own and serves it at free ports. */
export async function startBroker() {
  // Below node_modules, so that it finds the packages that it does not contain.
  const directory = await mkdtemp(join(ROOT, 'node_modules', '.apus-soak-'));
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    await promisify(execFile)(process.execPath, [join(ROOT, 'packages', 'node', 'build.mjs'), directory]);
    const child = spawn(
      process.execPath,
      [join(directory, 'apus.js'), 'serve', '--port', '0', '--no-gateway', '--log-level', 'error'],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const urls = await urlsOf(child);
    return {
      pageUrl: urls.page,
      mqttUrl: urls.MQTT,
      async stop() {
        if (child.exitCode === null) {
          const ended = once(child, 'exit');
          child.kill('SIGTERM');
          await ended;
        }
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function urlsOf(child) {
  const urls = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const [, name, url] = /^\s+(MQTT|page)\s+(\S+)/.exec(line) ?? [];
    if (name !== undefined) urls[name] = url;
    if (line.startsWith('Stop it')) return urls;
  }
  throw new Error('the broker did not start');
}
