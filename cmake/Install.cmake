# Install rules for the library, the plugin, the headers, and the files for find_package, pkg-config and LibTorch
# projects.

include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hearth)
set(torch_dir ${CMAKE_INSTALL_DATADIR}/hearth/torch)

install(TARGETS hearth hearth_torch EXPORT hearthTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET hearth_cuda)
  install(TARGETS hearth_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/hearth DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY compat/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hearth-compat)

install(EXPORT hearthTargets NAMESPACE hearth:: DESTINATION ${config_dir})
configure_package_config_file(cmake/hearthConfig.cmake.in
                              ${CMAKE_CURRENT_BINARY_DIR}/hearthConfig.cmake
                              INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/hearthConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hearthConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/hearthConfigVersion.cmake
        DESTINATION ${config_dir})

# For find_package(Torch) with -DTorch_DIR=<prefix>/share/hearth/torch.
configure_package_config_file(cmake/TorchConfig.cmake.in
                              ${CMAKE_CURRENT_BINARY_DIR}/TorchConfig.cmake
                              INSTALL_DESTINATION ${torch_dir} PATH_VARS config_dir)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TorchConfig.cmake cmake/TorchConfigVersion.cmake
        DESTINATION ${torch_dir})

file(RELATIVE_PATH prefix_from_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(module hearth hearth-torch)
  configure_file(cmake/${module}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${module}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${module}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
