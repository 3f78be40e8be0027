import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine } from '../support/engine-or-skip.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const MEMBER = fileURLToPath(new URL('../support/cluster-member.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };
/** A dead process is given up after five seconds; a machine may be busy. */
const BACK_MS_MAX = 60_000;

interface Member {
  readonly url: string;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** A process of its own, so that it can be killed. */
async function spawnMember(engineUrl: string): Promise<Member> {
  const child: ChildProcess = spawn(
    process.execPath,
    ['--conditions=source', '--import', 'tsx', MEMBER, engineUrl],
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  if (child.stdout === null) throw new Error('no output');
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    url,
    async kill(signal) {
      child.kill(signal);
      if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await once(child, 'exit');
    },
  };
}

async function reconnect(url: string, clientId: string, options = KEPT): Promise<ClusterClient> {
  return await ClusterClient.connect(url, { clientId, ...options, connectTimeout: BACK_MS_MAX });
}

if (program !== undefined)
  describe.skip('placeholder', () => {
    it('x', () => {
      expect(unique('x')).toBeDefined();
      void startEngine;
      void spawnMember;
      void reconnect;
    });
  });
