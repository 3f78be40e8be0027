import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Fields } from '@apus/identity';

/** The place of a value in the file, and the source of the secrets and files that it refers to. */
export interface Place {
  /** For error messages: the file, and the path in it. */
  readonly where: string;
  /** Paths in the file are relative to this folder. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly nowMs: number;
  /**
   * The text of a secret of Secrets Manager, by its ARN. If it is set, the place is a deployment, which has neither
   * files nor environment variables of its owner.
   */
  readonly secrets?: ((arn: string) => string | undefined) | undefined;
}

/**
 * Reads a text of the file itself, or `{"env": "NAME"}`, or `{"file": "PATH"}`, or in a deployment `{"secretArn":
 * "ARN"}`: so secrets need not be in the file.
 */
export function secretOf(fields: Fields, name: string, place: Place): string | undefined {
  const value = fields.raw(name);
  if (value === undefined || typeof value === 'string') return fields.text(name);
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 1)
    return fields.fail(name, 'has to be a text, {"env": "NAME"} or {"file": "PATH"}.');
  const [[kind, reference] = []] = Object.entries(value);
  if (place.secrets !== undefined) return secretOfArn(fields, name, kind, reference, place.secrets);
  if (typeof reference !== 'string' || (kind !== 'env' && kind !== 'file'))
    return fields.fail(name, 'has to be a text, {"env": "NAME"} or {"file": "PATH"}.');
  if (kind === 'file') return fileOf(fields, name, reference, place).trim();
  const secret = place.environment[reference];
  if (typeof secret === 'string' && secret !== '') return secret;
  return fields.fail(name, `is not there: the environment variable ${reference} is not set.`);
}

function secretOfArn(
  fields: Fields,
  name: string,
  kind: string | undefined,
  arn: unknown,
  secrets: (arn: string) => string | undefined,
): string {
  if (kind !== 'secretArn' || typeof arn !== 'string')
    return fields.fail(name, 'has to be a text or, in a deployment, {"secretArn": "ARN"}.');
  return secrets(arn) ?? fields.fail(name, `is not there: the secret ${arn} cannot be read.`);
}

/** Reads one or more certificates, which must be valid now. */
export function certificateOf(fields: Fields, name: string, place: Place): string | undefined {
  const path = fields.text(name);
  if (path === undefined) return undefined;
  const pem = fileOf(fields, name, path, place);
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) fields.fail(name, `has no certificate: ${path} is not in PEM.`);
  for (const block of blocks) checkDates(fields, name, block, path, place);
  return pem;
}

export function privateKeyOf(fields: Fields, name: string, place: Place): string | undefined {
  const path = fields.text(name);
  if (path === undefined) return undefined;
  const pem = fileOf(fields, name, path, place);
  if (!pem.includes('PRIVATE KEY-----')) fields.fail(name, `has no private key: ${path} is not in PEM.`);
  return pem;
}

function checkDates(fields: Fields, name: string, block: string, path: string, { nowMs }: Place): void {
  const certificate = certificateFrom(fields, name, block, path);
  if (Date.parse(certificate.validTo) < nowMs)
    fields.fail(name, `has expired: ${path} was valid until ${certificate.validTo}.`);
  if (Date.parse(certificate.validFrom) > nowMs)
    fields.fail(name, `is not valid yet: ${path} is from ${certificate.validFrom} on.`);
}

function certificateFrom(fields: Fields, name: string, block: string, path: string): X509Certificate {
  try {
    return new X509Certificate(block);
  } catch (error) {
    return fields.fail(name, `cannot be read: ${path}: ${(error as Error).message}.`);
  }
}

function fileOf(fields: Fields, name: string, path: string, { directory, secrets }: Place): string {
  if (secrets !== undefined) return fields.fail(name, 'is a file, which a deployment has not.');
  try {
    return readFileSync(resolve(directory, path), 'utf8');
  } catch (error) {
    return fields.fail(name, `cannot be read: ${(error as Error).message}.`);
  }
}
