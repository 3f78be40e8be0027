import { onTestFinished } from 'vitest';
import type { NodeOptions, RunningNode } from '../../src/index.ts';
import { startNode } from '../../src/index.ts';

/** A node at a free port for the length of one test. */
export async function nodeForTest(options: NodeOptions = {}): Promise<RunningNode> {
  const node = await startNode({ port: 0, logLevel: 'silent', ...options });
  onTestFinished(() => node.stop());
  return node;
}
