# Install rules for the library, the plugins, the headers, and the files for find_package, pkg-config and LibTorch
# projects.

include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hearth)
set(torch_dir ${CMAKE_INSTALL_DATADIR}/hearth/torch)

install(TARGETS hearth hearth_torch EXPORT hearthTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(plugin hearth_cuda hearth_gloo hearth_nccl hearth_plot)
  if(TARGET ${plugin})
    install(TARGETS ${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
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

# The Debian package (`make deb`): everything above and the program. dpkg-shlibdeps finds the packages that it
# depends on, from the libraries that its binaries are linked with.
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME hearth)
  set(CPACK_PACKAGE_CONTACT "The Hearth developers <hearth@localhost>")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
  set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Tensors with autograd, neural network modules, optimizers and data loading\nfor C++20 programs. The package contains the library, its headers, forwarding\nheaders with the paths of LibTorch, files for CMake and pkg-config, and the\nprogram hearth.")
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ (>= 4:12), cmake (>= 3.25), pkg-config")
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS dataset-fashion-mnist)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/hearth RENAME copyright)
  include(CPack)
endif()
