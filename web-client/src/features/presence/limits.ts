/** Rooms of a connection that are followed: as many as one watches at a time, with room to spare. */
export const ROOMS_MAX = 100;

/** Members of a room that are shown: what a broker of Apus takes by default. */
export const MEMBERS_MAX = 20_000;

/** Characters of a member's data that are shown. */
export const DATA_LENGTH_MAX = 200;
