// The first type of this module takes this file's place.
