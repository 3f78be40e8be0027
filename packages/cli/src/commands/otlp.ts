import type { TracesOptions } from '@apus/node';
import { UsageError } from './flags.ts';

/** OpenTelemetry's variable: pairs separated by commas, `authorization=Bearer%20abc`. */
const HEADERS_VARIABLE = 'OTEL_EXPORTER_OTLP_HEADERS';

/** @throws {UsageError} */
export function tracesFrom(
  url: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): TracesOptions | undefined {
  if (url === undefined) return undefined;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`--otlp is the URL of a collector, as http://127.0.0.1:4318, not "${url}".`);
  return { url, headers: headersOf(environment[HEADERS_VARIABLE] ?? '') };
}

function headersOf(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value = ''] = /^\s*([\w-]+)=(.*)$/.exec(pair) ?? [];
      if (name !== undefined) return [name, decodedOf(value.trim())];
      throw new UsageError(
        `${HEADERS_VARIABLE} has pairs as authorization=Bearer%20abc, with commas between.`,
      );
    }),
  );
}

function decodedOf(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
