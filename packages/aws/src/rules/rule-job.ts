import { createHash } from 'node:crypto';
import type { Message } from '@apus/broker';
import { decodeMessage, encodeMessage } from '@apus/store-dynamodb';
import { decodeQueued, encodeQueued, NEWER, type Newer } from '../events/queued-text.ts';
import type { QueueEntry } from '../fan-out/job-queue.ts';

/** Version of the layout of a job. */
const VERSION = 1;

/** A rule, by its tenant and name. */
export interface RuleRef {
  readonly tenant: string;
  readonly name: string;
}

/** A message on its way to the target of a rule. */
export interface RuleJob {
  readonly rule: RuleRef;
  readonly message: Message;
}

/** The jobs of one rule and topic are a message group, so they are received in order. */
export function ruleJobEntry(job: RuleJob): QueueEntry {
  const { rule, message } = job;
  const groupId = hashOf(rule.tenant, rule.name, message.topic);
  // A QoS 2 PUBLISH that is handled again keeps its message id.
  return { body: encodeRuleJob(job), fifo: { groupId, deduplicationId: hashOf(groupId, message.id) } };
}

export function encodeRuleJob({ rule: { tenant, name }, message }: RuleJob): string {
  return encodeQueued(VERSION, {
    tenant,
    name,
    message: Buffer.from(encodeMessage(message)).toString('base64'),
  });
}

/** Undefined: the text is no job. A retry would not change that. */
export function decodeRuleJob(body: string): RuleJob | Newer | undefined {
  const fields = decodeQueued(VERSION, body);
  if (fields === NEWER || fields === undefined) return fields;
  const { tenant, name, message: encoded } = fields;
  if (typeof tenant !== 'string' || typeof name !== 'string' || typeof encoded !== 'string') return undefined;
  try {
    const message = decodeMessage(Buffer.from(encoded, 'base64'));
    return message && { rule: { tenant, name }, message };
  } catch {
    return undefined;
  }
}

function hashOf(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('base64url');
}
