import { type Quotas, type Rule, rulesOfLists } from '@apus/broker';
import { AUTHENTICATION_PLACEHOLDERS, HookAuthenticator } from '../hook/hook-authenticator.ts';
import { DEFAULT_TENANT } from '../tenant.ts';
import { readDefaultRules } from './default-rules.ts';
import {
  createHookClient,
  HOOK_REQUEST_FIELDS,
  type HookRequestConfiguration,
  readHookRequest,
} from './hook-request.ts';
import type { AuthenticatorKind } from './kind.ts';

interface HookConfiguration {
  readonly request: HookRequestConfiguration;
  readonly tenant: string | undefined;
  readonly rules: readonly Rule[] | undefined;
  readonly clientIds: readonly string[] | undefined;
  readonly quotas: Partial<Quotas> | undefined;
}

/** The operator's server, or a Lambda function, decides who may connect. */
export const hookKind: AuthenticatorKind<HookConfiguration> = {
  name: 'hook',
  takesTokens: false,
  takesPasswords: true,
  fields: [...HOOK_REQUEST_FIELDS, 'tenant', 'defaultRules', 'clientIds', 'quotas'],
  parse(fields) {
    const rules = readDefaultRules(fields, 'defaultRules');
    return {
      request: readHookRequest(fields, AUTHENTICATION_PLACEHOLDERS),
      tenant: fields.tenant(),
      rules: rules && rulesOfLists(rules.publish, rules.subscribe),
      clientIds: fields.texts('clientIds'),
      quotas: fields.quotas(),
    };
  },
  create({ request, tenant = DEFAULT_TENANT, rules, clientIds, quotas }, context, { source }) {
    const { clock, log, limiter } = context;
    return new HookAuthenticator({
      source,
      client: createHookClient(request, context, source),
      request: request.template,
      defaults: {
        tenant,
        ...(rules && { rules }),
        ...(clientIds && { clientIds }),
        ...(quotas && { quotas }),
      },
      limiter,
      clock,
      log,
    });
  },
};
