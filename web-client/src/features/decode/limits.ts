/** The largest payload that is decoded into values: what the node door takes as the largest packet by default. */
export const DECODE_BYTES_MAX = 2 * 1024 * 1024;

/** Characters of a payload that are shown at first: more slow down the layout of a line without breaks. */
export const TEXT_CHARACTERS_SHOWN_MAX = 64 * 1024;

/** Characters of a payload that are shown when the user asks for all: more would stop the page for a while. */
export const TEXT_CHARACTERS_MAX = 512 * 1024;

/** Bytes of a hex dump or of base64: four screens of a large monitor. */
export const BYTES_SHOWN_MAX = 16 * 1024;

/** Bytes of them when the user asks for all: a byte is four characters. */
export const BYTES_MAX = TEXT_CHARACTERS_MAX / 4;

/** Payloads beyond this are not compared: two trees of a MiB take longer than a frame. */
export const DIFF_BYTES_MAX = 256 * 1024;

/** Differences that are listed; beyond them, messages have too little in common for a list to help. */
export const DIFFERENCES_MAX = 500;

/** Entries of one array or object that the viewer opens. */
export const ENTRIES_SHOWN_MAX = 1_000;

/** Containers that are open from the start: a payload of a device fits, an export of a database stays closed. */
export const ROWS_OPEN_AT_FIRST_MAX = 200;

/** Shorter decoded bytes are not detected as base64 or hex: a short word may be both. */
export const UNWRAPPED_BYTES_MIN = 8;

/** Bytes of a bignum in CBOR that is shown as a number: 2,466 digits. */
export const BIG_NUMBER_BYTES_MAX = 1_024;

/**
 * Values of one payload, with those in them: to read and compare as many takes a few milliseconds. A payload with
 * more is shown as text or bytes, with a sentence that says so.
 */
export const VALUES_MAX = 20_000;

/** Characters of a line that are laid out at once: the time for a line without a break grows with its length. */
export const PIECE_CHARACTERS_MAX = 2_000;

/** Longer JSON with a number that a double might not represent is not read: the parser for it reads sign by sign. */
export const EXACT_CHARACTERS_MAX = 128 * 1024;

/** Longer text is not looked through for bytes in base64 or hexadecimal digits. */
export const UNWRAPPED_CHARACTERS_MAX = 256 * 1024;

/** More deeply nested values are not converted, and are shown as text or bytes: they come from mistakes or attacks. */
export const DEPTH_MAX = 200;
