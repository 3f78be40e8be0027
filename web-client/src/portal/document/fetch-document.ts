import { DOCUMENT_BYTES_MAX, NAME_LENGTH_MAX, TEXT_LENGTH_MAX } from '../limits.ts';
import { type Fields, fieldsOf, textOf as shortText } from './fields.ts';
import type { PortalDocument } from './portal-document.ts';
import { readDocument } from './read-document.ts';

/** `refused`: only readers with a token may read the document. */
export type Fetched =
  | { readonly is: 'read'; readonly document: PortalDocument }
  | {
      readonly is: 'refused';
      readonly hasToken: boolean;
      readonly reason: string | undefined;
      /** How a developer gets a token, in the owner's words. */
      readonly tokenHelp: string | undefined;
    }
  | {
      readonly is: 'failed';
      readonly why: 'network' | 'status' | 'size' | 'content';
      readonly status?: number;
    };

const REFUSED = [401, 403];

/** Asks for the document, with the reader's token where there is one. */
export async function fetchDocument(url: string, token: string): Promise<Fetched> {
  try {
    const headers = token === '' ? {} : { Authorization: `Bearer ${token}` };
    const response = await fetch(url, { headers, cache: 'no-store', credentials: 'same-origin' });
    const isRefused = REFUSED.includes(response.status);
    if (!response.ok && !isRefused) return { is: 'failed', why: 'status', status: response.status };
    const text = await textOf(response);
    if (isRefused) {
      const { message, 'x-apus-token': help } = refusalIn(text);
      // A 401 asks programs for a token; the page asks its reader.
      const reason = response.status === 401 ? undefined : shortText(message, NAME_LENGTH_MAX);
      return { is: 'refused', hasToken: token !== '', reason, tokenHelp: shortText(help, TEXT_LENGTH_MAX) };
    }
    return text === undefined ? { is: 'failed', why: 'size' } : parsed(text);
  } catch {
    return { is: 'failed', why: 'network' };
  }
}

function parsed(text: string): Fetched {
  try {
    const document = readDocument(JSON.parse(text));
    if (document !== undefined) return { is: 'read', document };
  } catch {
    // The answer is no JSON.
  }
  return { is: 'failed', why: 'content' };
}

/** A node says in JSON why it refuses, and how to get a token. */
function refusalIn(text: string | undefined): Fields {
  try {
    return fieldsOf(JSON.parse(text ?? '')) ?? {};
  } catch {
    return {};
  }
}

/** Undefined if it is too long. */
async function textOf(response: Response): Promise<string | undefined> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let [bytes, text] = [0, ''];
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done || value === undefined) return text + decoder.decode();
    bytes += value.length;
    if (bytes > DOCUMENT_BYTES_MAX) {
      await reader?.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}
