/* A library with nothing in it that anybody looks for. */
const int fake_nothing = 0;
