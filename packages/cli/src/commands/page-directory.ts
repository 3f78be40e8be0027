import { fileURLToPath } from 'node:url';

/** The web client, which the build puts beside the command. The developers' page is in `portal` below it. */
export const PAGE = fileURLToPath(new URL('./page/', import.meta.url));
