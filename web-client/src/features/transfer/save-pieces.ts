import { saveBlob } from '../../ui/save-file.ts';

/** Builds a file from pieces, with pauses for the page, and passes it to the browser. */
export async function savePieces(name: string, type: string, pieces: Iterable<string>): Promise<void> {
  const parts: Blob[] = [];
  for (const piece of pieces) {
    // A Blob frees the page's heap, where a string would stay.
    parts.push(new Blob([piece]));
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  saveBlob(name, new Blob(parts, { type }));
}
