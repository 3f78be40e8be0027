import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from './command.ts';
import { PAGE } from './page-directory.ts';

const DOCUMENT = 'asyncapi.json';

/** The element of the page that names its document. */
const META = /<meta name="apus-document" content="[^"]*" \/>/;

/** A web host may not send our headers. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/**
 * Writes the developers' page with its document beside it: static files with relative addresses.
 * @throws {CommandError}
 */
export function writeTopicsPage(directory: string, document: object): void {
  const portal = join(PAGE, 'portal');
  if (!existsSync(portal)) throw new CommandError('The page has not been built: npm run build');
  try {
    // A web host compresses by itself.
    cpSync(portal, directory, { recursive: true, filter: (path) => !path.endsWith('.br') });
    const index = join(directory, 'index.html');
    const head = [
      `<meta name="apus-document" content="./${DOCUMENT}" />`,
      `<meta http-equiv="Content-Security-Policy" content="${CONTENT_SECURITY_POLICY}" />`,
    ].join('\n    ');
    writeFileSync(
      index,
      readFileSync(index, 'utf8').replace(META, () => head),
    );
    writeFileSync(join(directory, DOCUMENT), `${JSON.stringify(document, undefined, 2)}\n`);
  } catch (error) {
    throw new CommandError(`The page cannot be written: ${(error as Error).message}`, { cause: error });
  }
}
