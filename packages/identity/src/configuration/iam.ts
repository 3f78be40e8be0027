import type { Quotas, Rule } from '@apus/broker';
import { readRules } from '../rules/read-rules.ts';
import { DEFAULT_TENANT } from '../tenant.ts';
import { Fields } from './fields.ts';

/** Rules of clients whose AWS credentials API Gateway has checked, in place of a chain. */
export interface IamConfiguration {
  readonly tenant: string;
  readonly rules: readonly Rule[];
  readonly clientIds: readonly string[] | undefined;
  readonly quotas: Partial<Quotas> | undefined;
}

const FIELDS = ['tenant', 'rules', 'publish', 'subscribe', 'clientIds', 'quotas'];

/** `{"publish": ["dev/%u"], "subscribe": ["dev/#"]}`. @throws {ConfigurationError} */
export function readIam(value: unknown, where: string): IamConfiguration | undefined {
  if (value === undefined) return undefined;
  const fields = new Fields(value, where, FIELDS);
  const [ruled, publish, subscribe] = [fields.raw('rules'), fields.raw('publish'), fields.raw('subscribe')];
  const rules = readRules({ rules: ruled, publish, subscribe });
  if (typeof rules === 'string') return fields.fail('rules', `cannot be kept: ${rules}`);
  return {
    tenant: fields.tenant() ?? DEFAULT_TENANT,
    rules,
    clientIds: fields.texts('clientIds'),
    quotas: fields.quotas(),
  };
}
