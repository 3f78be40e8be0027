import { Fields } from '@apus/identity';
import { certificateOf, type Place, privateKeyOf } from './place.ts';

/** The certificate authorities that the bridge trusts, and the certificate that it shows. */
export interface TlsConfiguration {
  /**
   * Certificate authorities, in PEM.
   * @default those of Node.js
   */
  readonly ca: string | undefined;
  /** Certificate for mutual TLS, in PEM. */
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

/** Undefined if the file has no TLS fields. */
export function tlsOf(parent: Fields, place: Place): TlsConfiguration | undefined {
  const value = parent.raw('tls');
  if (value === undefined) return undefined;
  const fields = new Fields(value, `${parent.where}.tls`, ['ca', 'certificate', 'key']);
  const tls = {
    ca: certificateOf(fields, 'ca', place),
    certificate: certificateOf(fields, 'certificate', place),
    key: privateKeyOf(fields, 'key', place),
  };
  if ((tls.certificate === undefined) !== (tls.key === undefined))
    fields.fail(tls.key === undefined ? 'key' : 'certificate', 'is missing: a certificate has a key.');
  return tls;
}
