import { saveBlob } from '../../ui/save-file.ts';

/** Makes a file of pieces, letting the page draw between them, and hands it to the browser. */
export async function savePieces(name: string, type: string, pieces: Iterable<string>): Promise<void> {
  const parts: Blob[] = [];
  for (const piece of pieces) {
    // A Blob leaves the heap of the page where a string would stay.
    parts.push(new Blob([piece]));
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  saveBlob(name, new Blob(parts, { type }));
}
