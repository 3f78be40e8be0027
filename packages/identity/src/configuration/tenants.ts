import { ConfigurationError } from '../configuration-error.ts';
import type { DefaultRules } from '../jwt/claims.ts';
import { TenantsAuthenticator } from '../tenants/tenants-authenticator.ts';
import { readDefaultRules } from './default-rules.ts';
import type { AuthenticatorKind } from './kind.ts';

interface TenantsConfiguration {
  readonly where: string;
  readonly defaultRules: DefaultRules | undefined;
  readonly nameClaim: string | undefined;
  readonly tenantClaim: string | undefined;
}

/** Tokens of tenants with keys of their own, which the register of tenants has (`apus tenant`). */
export const tenantsKind: AuthenticatorKind<TenantsConfiguration> = {
  name: 'tenants',
  takesTokens: true,
  takesPasswords: false,
  fields: ['defaultRules', 'nameClaim', 'tenantClaim'],
  parse(fields) {
    return {
      where: fields.where,
      defaultRules: readDefaultRules(fields, 'defaultRules'),
      nameClaim: fields.text('nameClaim'),
      tenantClaim: fields.text('tenantClaim'),
    };
  },
  create({ where, ...options }, { tenants, clock }, { source }) {
    if (tenants === undefined)
      throw new ConfigurationError(
        `${where} needs a register of tenants: a node has it with --tenants FILE.`,
      );
    return new TenantsAuthenticator({ ...options, source, tenants, clock });
  },
};
