/* Read after a model's namespace is closed: the names that the next model defines anew. */
#undef MILL_PARAMS
#undef MILL_CHOICES
#undef MILL_STATE
#undef MILL_RECEPTORS
#undef MILL_DERIVED
#undef MILL_CURRENT
#undef MILL_FLAGS
#undef MILL_D_LOAD_
#undef MILL_D_STORE_
#undef MILL_D_VALUE_
#undef MILL_D_RECEIVE_
#undef MILL_D_STATES_
#undef MILL_D_RECEPTORS_
