import { type PeerCertificate, type Quotas, type Rule, rulesOfLists } from '@apus/broker';
import type { Answer, ChainAuthenticator, Shown } from '../answer.ts';
import { DEFAULT_TENANT } from '../tenant.ts';
import { readDefaultRules } from './default-rules.ts';
import type { AuthenticatorKind } from './kind.ts';

/** What of a certificate may be the name of its holder. */
const NAMES = ['commonName', 'subject', 'dns', 'email', 'uri'] as const;

interface CertificateConfiguration {
  readonly nameFrom: (typeof NAMES)[number];
  readonly tenant: string | undefined;
  readonly rules: readonly Rule[] | undefined;
  readonly clientIds: readonly string[] | undefined;
  readonly quotas: Partial<Quotas> | undefined;
}

/** Certificates of clients, which a listener with TLS has verified. */
export const certificateKind: AuthenticatorKind<CertificateConfiguration> = {
  name: 'certificate',
  takesTokens: false,
  takesPasswords: false,
  fields: ['nameFrom', 'tenant', 'defaultRules', 'clientIds', 'quotas'],
  parse(fields) {
    const rules = readDefaultRules(fields, 'defaultRules');
    return {
      nameFrom: fields.oneOf('nameFrom', NAMES) ?? 'commonName',
      tenant: fields.tenant(),
      rules: rules && rulesOfLists(rules.publish, rules.subscribe),
      clientIds: fields.texts('clientIds'),
      quotas: fields.quotas(),
    };
  },
  create: (configuration, _context, { source }) => new CertificateAuthenticator(configuration, source),
};

class CertificateAuthenticator implements ChainAuthenticator {
  readonly source: string;
  readonly #configuration: CertificateConfiguration;

  constructor(configuration: CertificateConfiguration, source: string) {
    this.source = source;
    this.#configuration = configuration;
  }

  authenticate({ certificate }: Shown): Answer {
    const { nameFrom, tenant = DEFAULT_TENANT, rules, clientIds, quotas } = this.#configuration;
    if (certificate === undefined) return { notMine: 'it shows no certificate' };
    const name = nameOf(certificate, nameFrom);
    if (name === undefined) return { notMine: `its certificate has no ${nameFrom}` };
    return {
      ...{ tenant, name, source: this.source, tokenId: certificate.serialNumber },
      // An open connection ends with the certificate, as with a token.
      expiresAtMs: certificate.validToMs,
      rules: rules ?? [],
      ...(clientIds && { clientIds }),
      ...(quotas && { quotas }),
    };
  }
}

/** The first of a certificate with several. */
function nameOf(
  { commonName, subject, alternativeNames }: PeerCertificate,
  from: CertificateConfiguration['nameFrom'],
): string | undefined {
  if (from === 'commonName') return commonName;
  if (from === 'subject') return subject;
  const prefix = `${from}:`;
  return alternativeNames.find((each) => each.toLowerCase().startsWith(prefix))?.slice(prefix.length);
}
