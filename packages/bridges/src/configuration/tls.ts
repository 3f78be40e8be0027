import { Fields } from '@apus/identity';
import { certificateOf, type Place, privateKeyOf } from './place.ts';

/** How the other side is trusted, and what is shown to it. */
export interface TlsConfiguration {
  /** Authorities, in PEM. @default those of Node.js */
  readonly ca: string | undefined;
  /** Shown to the other side (mutual TLS), in PEM. */
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

/** Undefined where the file says nothing of TLS. */
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
