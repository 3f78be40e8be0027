import { type NodeOptions, type RunningNode, startNode } from '@apus/node';
import { onTestFinished } from 'vitest';
import { openBridges, readRules } from '../../src/index.ts';

export const PLACE = { where: 'rules.json', directory: '.', environment: {}, nowMs: Date.now() };
export const LOOPBACK = ['127.0.0.0/8'];

/** A node with rules, as a file declares them. */
export async function ruledNode(rules: readonly object[], options: NodeOptions = {}): Promise<RunningNode> {
  const node = await startNode({
    port: 0,
    logLevel: 'silent',
    ...options,
    openBridges: openBridges(
      [],
      readRules({ rules: rules.map((rule) => ({ name: 'test', ...rule })) }, PLACE),
    ),
  });
  onTestFinished(() => node.stop());
  return node;
}

export interface RuleStatus {
  readonly status: string;
  readonly last_error: string | null;
  readonly sent: number;
  readonly matched: number;
  readonly filtered: number;
  readonly condition_failed: number;
  readonly looped: number;
  readonly dead: number;
  readonly dead_letters: number;
  readonly waiting: number;
  readonly inflight: number;
}

export async function api(
  { httpUrl }: Pick<RunningNode, 'httpUrl'>,
  path: string,
  method = 'GET',
): Promise<{ readonly status: number; readonly body: never }> {
  const response = await fetch(new URL(`/api/v5/${path}`, httpUrl), { method });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as never };
}

export async function ruleOf(node: Pick<RunningNode, 'httpUrl'>): Promise<RuleStatus> {
  const { body } = await api(node, 'rules');
  const [status] = (body as { readonly data: readonly RuleStatus[] }).data;
  if (status === undefined) throw new Error('the node has no rule');
  return status;
}
