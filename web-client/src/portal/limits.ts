/** Bytes of a document. A node's document has a megabyte of descriptions at most, with resolved references. */
export const DOCUMENT_BYTES_MAX = 16 * 1024 * 1024;

/** Topics that the page lists. */
export const TOPICS_MAX = 1_000;

/** Characters of a title, a name or an address that the page shows. */
export const NAME_LENGTH_MAX = 300;

/** Characters of a description. */
export const TEXT_LENGTH_MAX = 4_000;

/** Fields of one object that are shown before the reader asks for more, and with each click. */
export const FIELDS_SHOWN = 50;

/** An object of the second level with more fields than these is closed until the reader opens it. */
export const OPEN_FIELDS_MAX = 10;

/** References that lead to references. */
export const REFERENCES_MAX = 20;

/** Values of an `enum` that are shown. */
export const VALUES_SHOWN = 30;

/** Characters of a value that stands in a line. */
export const VALUE_LENGTH_MAX = 120;

/** Examples of one topic. */
export const EXAMPLES_MAX = 20;

/** Characters of an example, and of a snippet with it. */
export const EXAMPLE_LENGTH_MAX = 100_000;
