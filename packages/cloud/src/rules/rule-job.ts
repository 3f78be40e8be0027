import { createHash } from 'node:crypto';
import type { Message } from '@apus/broker';
import { decodeMessage, encodeMessage } from '@apus/store-dynamodb';
import type { QueueEntry } from '../fan-out/job-queue.ts';

/**
 * Version of the layout of a job. A new layout has to read jobs of this one, which wait in the queue during a
 * deployment.
 */
const VERSION = 1;

/** SQS takes only characters that XML allows. Of those that MQTT and JSON allow, it refuses these. */
const NOT_XML = /[\ufffe\uffff]/g;

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
  const encoded = Buffer.from(encodeMessage(message)).toString('base64');
  const json = JSON.stringify({ v: VERSION, tenant, name, message: encoded });
  return json.replaceAll(NOT_XML, (each) => `\\u${each.charCodeAt(0).toString(16)}`);
}

/** Undefined: the text is no job of a known version. A retry would not change that. */
export function decodeRuleJob(body: string): RuleJob | undefined {
  try {
    const fields: unknown = JSON.parse(body);
    if (typeof fields !== 'object' || fields === null) return undefined;
    const { v, tenant, name, message: encoded } = fields as Readonly<Record<string, unknown>>;
    if (v !== VERSION || typeof tenant !== 'string' || typeof name !== 'string') return undefined;
    if (typeof encoded !== 'string') return undefined;
    const message = decodeMessage(Buffer.from(encoded, 'base64'));
    return message && { rule: { tenant, name }, message };
  } catch {
    return undefined;
  }
}

function hashOf(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('base64url');
}
